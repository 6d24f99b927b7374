#!/usr/bin/env python3
"""Prints a pump's status and then what happens to it: daemon_client.py SOCKET [DEVICE]"""
import json
import socket
import sys

path, device = sys.argv[1], (sys.argv + ["pump"])[2]
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
lines = connection.makefile("rw", encoding="utf-8")


def show(event):
    rest = {key: value for key, value in event.items() if key not in ("event", "time", "device")}
    print(event["event"], json.dumps(rest), flush=True)


def ask(verb, **arguments):
    print(json.dumps({"id": 1, "do": verb, **arguments}), file=lines, flush=True)
    for line in lines:
        message = json.loads(line)
        if "event" in message:
            show(message)
        elif message["ok"]:
            return message
        else:
            sys.exit(message["error"]["message"])


print(*ask("command", device=device, name="status")["reply"], flush=True)
ask("subscribe", devices=[device], events=["said", "state", "link"])
for line in lines:
    show(json.loads(line))
