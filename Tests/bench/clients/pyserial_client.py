#!/usr/bin/python3
"""Talks to a simulated pump through pyserial, as the users' own scripts do, and tells what was answered.

usage: pyserial_client.py PORT

Sends the commands on stdin, one a line; before each, and a tab, stands how many lines of answer to wait for.
Prints `> command` and `< answer`. A status report that comes unasked is left out.
"""

import sys
import time

import serial

DEADLINE = 30
# While the pump sleeps it keeps 63 bytes; what comes beyond is lost.
PIECE = 40


def main():
    with serial.Serial(sys.argv[1], 9600, timeout=DEADLINE) as port:
        for request in sys.stdin.read().splitlines():
            count, command = request.split("\t")
            line = command.encode("ascii") + b"\n"
            for start in range(0, len(line), PIECE):
                if start > 0:
                    time.sleep(0.3)
                port.write(line[start:start + PIECE])
            print(">", command)
            answers = 0
            while answers < int(count):
                line = port.readline()
                if not line.endswith(b"\r\n"):
                    sys.exit(f"no line in {DEADLINE} s, but {line!r}")
                # A running pump reports every 5 s, also between the lines of a reply.
                if line.startswith(b"STATUS:{State:ON,") and command != "STATUS":
                    continue
                print("<", line[:-2].decode("ascii"))
                answers += 1


if __name__ == "__main__":
    main()
