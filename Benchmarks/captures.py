"""Measure the playback of a large capture: its time, and the growth of the peak memory with the size of the capture."""
import json
import pathlib
import tempfile

from harness import numbers

MIB = 1 << 20
LARGE = 1024
# The allowed growth of the peak memory, in MiB, from a capture of 1 MiB to the large one.
GROWTH_MIB = 6


def write(path, size):
    """Write a capture of about `size` bytes: one GET_LOG sent to a storm sensor, and the lines received after it."""
    log = "LIVE LOG: " + "1 2 3 4 " * 500
    received = {"time_s": 1, "link": 1, "event": "received", "text": log + "\n", "lines": [log]}
    line = json.dumps(received) + "\n"
    with open(path, "w") as file:
        for record in (
            {"pumpctl_capture": 1, "program": "benchmark", "family": "storm", "started": "2026-01-01T00:00:00Z"},
            {"time_s": 0, "link": 1, "event": "opened", "endpoint": "/dev/ttyUSB0", "name": "/dev/ttyUSB0"},
            {"time_s": 0, "link": 1, "event": "sent", "text": "GET_LOG\n", "lines": ["GET_LOG"]},
        ):
            file.write(json.dumps(record) + "\n")
        for _ in range(size // len(line)):
            file.write(line)


def measure(table, options):
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for size in (1, LARGE):
            path = pathlib.Path(folder) / str(size)
            write(path, size * MIB)
            results.append(numbers(
                options.peers / "launch", 1, options.pumpctl, "--port", f"replay:{path}?pace=none", "send", "GET_LOG"))
    (_, small), (time, large) = [(time / 1e6, memory / 1024) for time, memory in results]
    # The time has no goal: it includes the silence (`--quiet`) that ends the reply to `send`.
    table.add("a capture of 1 GiB, played back", f"{time:.1f} s", "", "", "", True)
    table.add("… its peak memory", f"{large:.1f} MiB", f"{small:.1f} MiB (1 MiB)", "", f"≤ {GROWTH_MIB} MiB more",
              large - small <= GROWTH_MIB)
