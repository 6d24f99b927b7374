#!/usr/bin/env python3
"""Runs `swift test`, and says which tests were skipped: run.py [--no-skips] [--silence SECONDS] swift test [OPTION]...

A line that counts the tests is printed at the end, and added to the file that PARTS names, if it is set. A run in which nothing
happens for SECONDS (10 minutes, twice what a test may take) is killed, and the tests that it hung in are named. Exit status:
that of `swift test`; 1 where it did not finish, where there were no tests, or, with --no-skips, where one was skipped.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

# What a test's events say where it, or one of its arguments, did not run.
SKIPPED = {"testSkipped", "testCancelled", "testCaseCancelled"}


def read(path):
    """The names of the tests that there are, which were skipped, which were under way, and whether the run came to its end."""
    functions, skipped, under_way, has_ended = {}, set(), set(), False
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            try:
                record = json.loads(line)
            except ValueError:
                break  # A run that crashed leaves half a line.
            payload = record["payload"]
            if record["kind"] == "test" and payload["kind"] == "function":
                functions[payload["id"]] = payload.get("displayName") or payload["name"]
            elif payload["kind"] in SKIPPED:
                skipped.add(payload["testID"])
            elif payload["kind"] == "testStarted":
                under_way.add(payload["testID"])
            elif payload["kind"] == "testEnded":
                under_way.discard(payload["testID"])
            has_ended = has_ended or payload["kind"] == "runEnded"
    return functions, skipped, under_way, has_ended


def run(command, events, silence):
    """Its exit status; it is killed when nothing has been added to its events for so many seconds."""
    # A group of its own, for all that the tests have started.
    process = subprocess.Popen(command, start_new_session=True)
    size = -1
    try:
        while True:
            try:
                return process.wait(silence)
            except subprocess.TimeoutExpired:
                before, size = size, os.path.getsize(events) if os.path.exists(events) else 0
                if size == before:
                    return 1
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def note(text):
    """Prints it, and keeps it for the table of parts."""
    print(text, flush=True)
    if path := os.environ.get("PARTS"):
        with open(path, "a", encoding="utf-8") as parts:
            parts.write(f"note\t{text}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-skips", action="store_true")
    parser.add_argument("--silence", type=float, default=600)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="run-tests-") as folder:
        events = os.path.join(folder, "events")
        options = ["--event-stream-output-path", events, "--event-stream-version", "0"]
        status = run(arguments.command + options, events, arguments.silence)
        if not os.path.exists(events):
            note("no test was run")
            return status or 1
        functions, skipped, under_way, has_ended = read(events)
    # A suite that is skipped is told for each of its tests, and for itself.
    names = [functions[test] for test in sorted(skipped & functions.keys())]
    note(f"{len(functions)} tests, {len(names)} skipped" + (f": {'; '.join(names)}" if names else ""))
    if not has_ended:
        names = [functions[test] for test in sorted(under_way & functions.keys())]
        note("the run did not come to its end" + (f"; under way: {'; '.join(names)}" if names else ""))
    is_bad = not has_ended or not functions or (arguments.no_skips and skipped)
    return status or int(bool(is_bad))


if __name__ == "__main__":
    sys.exit(main())
