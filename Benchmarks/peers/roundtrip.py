"""Measure a command's round trip with pyserial: roundtrip.py PORT COUNT readline|in_waiting

`readline` uses pyserial's readline(), which reads one byte at a time. The faster `in_waiting` reads all bytes that have
arrived.
"""
import resource
import sys
import time

import serial

port = serial.Serial(sys.argv[1], 9600, timeout=5)
count = int(sys.argv[2])


def line():
    """Read a line by in_waiting, as readline() does byte by byte."""
    heard = b""
    while not heard.endswith(b"\n"):
        heard += port.read(port.in_waiting or 1)
    return heard


read = {"readline": port.readline, "in_waiting": line}[sys.argv[3]]


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


times = []
start_cpu = cpu()
for _ in range(count):
    start = time.perf_counter()
    port.write(b"STATUS\n")
    assert read().startswith(b"STATUS:{")
    times.append(time.perf_counter() - start)
used = cpu() - start_cpu
times.sort()
print(f"{times[count // 2] * 1e6:.2f} {used / count * 1e6:.2f}")  # median µs, and CPU µs per round trip
