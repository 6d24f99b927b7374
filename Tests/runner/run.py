#!/usr/bin/env python3
"""Run tests, and report skipped and failed ones: run.py [--no-skips] [--silence SECONDS] PROGRAM [OPTION]...

PROGRAM is that of the package's tests, or `swift test`. At the end the script prints the slowest tests, the time of each
test target, a line that counts the tests, and a line for each failure, because the output of PROGRAM has its failures far
above. The count and the failures are also appended to the file named by the environment variable PARTS, if it is set, with
the name in PART.

The time of a test with arguments is the sum over its cases. For other tests PROGRAM reports the start before their
turn, so their times are known only if one test runs at a time, with --no-parallel.

A run without any event for SECONDS (10 minutes by default; `make soak` sets a longer time) is killed, and the
unfinished tests are named. Exit status: that of PROGRAM if it failed; otherwise 1 if the run did not finish, if
there were no tests, or, with --no-skips, if a test or a suite was skipped.
"""

import argparse
import collections
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

# The events of a test, or of one of its cases, that did not run.
SKIPPED = {"testSkipped", "testCancelled", "testCaseCancelled"}
# The number of failures printed at the end, and the number of characters of each. PROGRAM's output above has
# all of them.
FAILURES = 20
FAILURE_LENGTH = 1000
# The number of slowest tests listed.
SLOWEST = 20


@dataclasses.dataclass
class Account:
    """The facts that the events of a run report."""

    # The names of the tests by ID, without suites.
    functions: dict = dataclasses.field(default_factory=dict)
    # The IDs of skipped tests and suites.
    skipped: set = dataclasses.field(default_factory=set)
    # The starts of unfinished tests by ID, and of unfinished cases by the key of `case`, in seconds on the clock of
    # `swift test`.
    under_way: dict = dataclasses.field(default_factory=dict)
    cases: dict = dataclasses.field(default_factory=dict)
    # The durations in seconds, of those tests whose duration is known.
    seconds: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    # Whether the tests run one at a time.
    is_serial: bool = False
    # A line for each failure: see `failure`.
    failures: list = dataclasses.field(default_factory=list)
    has_ended: bool = False

    def names(self, tests):
        return [self.functions[test] for test in sorted(tests & self.functions.keys())]

    def times(self):
        """Return the seconds of each test whose time is known, slowest first, and the sum of each target."""
        tests = sorted(((self.seconds[test], test) for test in self.functions if test in self.seconds), reverse=True)
        targets = collections.Counter()
        for seconds, test in tests:
            targets[re.split(r"[./]", test, maxsplit=1)[0]] += seconds
        return tests, targets.most_common()


def read(path, is_serial=False):
    """Read the events of a run from a file with one JSON record per line."""
    account = Account(is_serial=is_serial)
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            try:
                record = json.loads(line)
            except ValueError:
                break  # A run that crashed may leave half a line at the end.
            payload = record["payload"]
            if record["kind"] == "test" and payload["kind"] == "function":
                account.functions[payload["id"]] = payload.get("displayName") or payload["name"]
            elif payload["kind"] in SKIPPED:
                account.skipped.add(payload["testID"])
            elif payload["kind"] == "testStarted":
                account.under_way[payload["testID"]] = payload["instant"]["absolute"]
            elif payload["kind"] == "testEnded" and payload["testID"] in account.under_way:
                seconds = payload["instant"]["absolute"] - account.under_way.pop(payload["testID"])
                if account.is_serial:
                    account.seconds[payload["testID"]] = seconds
            elif payload["kind"] == "testCaseStarted":
                account.cases[case(payload)] = payload["instant"]["absolute"]
            elif payload["kind"] == "testCaseEnded" and case(payload) in account.cases and not account.is_serial:
                account.seconds[payload["testID"]] += payload["instant"]["absolute"] - account.cases.pop(case(payload))
            elif payload["kind"] == "issueRecorded" and not payload["issue"]["isKnown"]:
                account.failures.append(failure(payload, account.functions))
            account.has_ended = account.has_ended or payload["kind"] == "runEnded"
    return account


def case(payload):
    """Return a key that identifies a case of a test."""
    return payload["testID"], json.dumps(payload.get("_testCase"), sort_keys=True)


def failure(payload, functions):
    """Return one line with the test, the place, and the message of a failure."""
    name = functions.get(payload.get("testID"), "outside of a test")
    place = payload["issue"].get("sourceLocation")
    place = f" ({place['fileID']}:{place['line']})" if place else ""
    text = " / ".join(line for message in payload["messages"] for line in message["text"].splitlines() if line.strip())
    return f"{name}{place}: {text}"


def unblock():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def reset_signals():
    """Reset the signals of the tests before their exec.

    The background jobs of a script ignore SIGINT and SIGQUIT, and so would the programs to which tests send SIGINT.
    """
    unblock()
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def run(command, events, silence):
    """Run a command; return its exit status.

    Every `silence` seconds, the size of the file `events` is checked. If it has not grown since the last check, the
    command is killed, and the status is 1.
    """
    # SIGTERM, whose handler raises SystemExit, stays blocked until the `finally` below can kill the process.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    # A new process group, so that killpg reaches the tests and the programs that they have started. Not a new session:
    # a group without a parent in its session ignores SIGTSTP.
    process = subprocess.Popen(command, process_group=0, preexec_fn=reset_signals)
    size = -1
    try:
        unblock()
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
    """Print a line, and append it to the file named by PARTS, if it is set."""
    print(text, flush=True)
    if path := os.environ.get("PARTS"):
        with open(path, "a", encoding="utf-8") as parts:
            parts.write(f"note\t{os.environ.get('PART', '')}\t{text}\n")


def main():
    # On SIGTERM, raise SystemExit, so that `run` kills the tests.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
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
        account = read(events, "--no-parallel" in arguments.command)
    tests, targets = account.times()
    for seconds, test in tests[:SLOWEST]:
        print(f"{seconds:7.1f} s  {re.split(r'[./]', test, maxsplit=1)[0]}: {account.functions[test]}")
    for target, seconds in targets:
        print(f"{seconds:7.1f} s  {target}, all{'' if account.is_serial else ' that have arguments'}")
    # A skipped suite has an event for itself and one for each of its tests; only the tests are named.
    names = account.names(account.skipped)
    note(f"{len(account.functions)} tests, {len(names)} skipped" + (f": {'; '.join(names)}" if names else ""))
    for line in account.failures[:FAILURES]:
        note(f"failed: {line if len(line) <= FAILURE_LENGTH else line[:FAILURE_LENGTH] + '…'}")
    if len(account.failures) > FAILURES:
        note(f"and {len(account.failures) - FAILURES} more")
    if not account.has_ended:
        names = account.names(account.under_way.keys())
        note("the run did not come to its end" + (f"; under way: {'; '.join(names)}" if names else ""))
    is_bad = not account.has_ended or not account.functions or (arguments.no_skips and account.skipped)
    return status or int(bool(is_bad))


if __name__ == "__main__":
    sys.exit(main())
