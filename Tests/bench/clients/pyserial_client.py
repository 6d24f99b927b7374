#!/usr/bin/python3
"""Send commands to a simulated pump through pyserial, as users' own scripts do, and print the replies.

usage: pyserial_client.py PORT

Each line of stdin has the number of reply lines to wait for, a tab, and a command. Prints `> COMMAND`, and `< LINE` for
each line of the reply. Unsolicited status reports are left out.
"""

import sys

import serial

# The time limit of a line in seconds; only a pump that does not reply reaches it.
DEADLINE = 30


def main():
    with serial.Serial(sys.argv[1], 9600, timeout=DEADLINE) as port:
        for request in sys.stdin.read().splitlines():
            count, command = request.split("\t")
            port.write(command.encode("ascii") + b"\n")
            print(">", command)
            answers = 0
            while answers < int(count):
                line = port.readline()
                if not line.endswith(b"\r\n"):
                    sys.exit(f"no line in {DEADLINE} s, but {line!r}")
                # A running pump reports every 5 s, even between the lines of a reply.
                if line.startswith(b"STATUS:{State:ON,") and command != "STATUS":
                    continue
                print("<", line[:-2].decode("ascii"))
                answers += 1


if __name__ == "__main__":
    main()
