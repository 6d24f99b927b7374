#!/usr/bin/python3
"""Copy stdin to a serial port through pyserial, and the port's output to stdout, until stdin ends.

usage: pyserial_terminal.py PORT
"""

import os
import select
import sys

import serial


def main():
    with serial.Serial(sys.argv[1], 9600) as port:
        while True:
            ready = select.select([port, sys.stdin], [], [])[0]
            if port in ready:
                os.write(1, port.read(port.in_waiting or 1))
            if sys.stdin in ready:
                data = os.read(0, 4096)
                if not data:
                    return
                port.write(data)


if __name__ == "__main__":
    main()
