#!/usr/bin/env python3
"""Print a pump's status, and then its events: daemon_client.py SOCKET [DEVICE]"""
import itertools
import json
import socket
import sys

if len(sys.argv) < 2:
    sys.exit(__doc__)
path, device = sys.argv[1], (sys.argv + ["pump"])[2]
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
lines = connection.makefile("rw", encoding="utf-8")
ids = itertools.count(1)


def receive():
    """Return the next response; print the events that arrive before it."""
    for line in lines:
        message = json.loads(line)
        if "event" not in message:
            return message
        rest = {key: value for key, value in message.items() if key not in ("event", "time", "device")}
        print(message["event"], json.dumps(rest), flush=True)
    sys.exit("pumpctld has closed the connection")


def ask(verb, **arguments):
    request = {"id": next(ids), "do": verb, **arguments}
    print(json.dumps(request), file=lines, flush=True)
    while (response := receive())["id"] not in (request["id"], None):
        pass
    return response if response["ok"] else sys.exit(response["error"]["message"])


print(*ask("command", device=device, name="status")["reply"], flush=True)
ask("subscribe", devices=[device], events=["said", "state", "link"])
while True:
    receive()
