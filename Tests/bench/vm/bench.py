#!/usr/bin/env python3
"""Runs pumpctl on a real kernel, in a virtual machine: bench.py --pumpctl FILE --image FOLDER [-k PATTERN]... [--again]

Prints a line for each test, and how many passed. Exit status: 0 where none failed; with --again, where none failed twice.
"""

import argparse
import faulthandler
import functools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from ch340 import CH340
from ftdi import FTDI
from nano import Nano
from vm import VirtualMachine, saved_state
from wire import Wire

# Longer than any test; one that takes as long hangs.
TEST_SECONDS = 600
# For what a guest without KVM does in a second or so.
PATIENCE = 30

ANSWERS = {
    b"STATUS": b"STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n",
    b"TEMP": b"TEMP:{Water:12.0C,Skin:34.5C}\r\n",
}


class BenchTest(unittest.TestCase):
    """A test with a guest of its own, freshly resumed, in which `pumpctl` is installed."""

    # Set by main: the saved state to start from, and pumpctl on this machine.
    state = None
    program = None

    def setUp(self):
        self.machine = self.enterContext(VirtualMachine.resume(self.state))
        self.guest = self.machine.guest
        self.addCleanup(self.guest.close)
        self.adapters = []

    def run(self, result=None):
        # An interrupt passes by what unittest would clean up.
        try:
            return super().run(result)
        finally:
            self.doCleanups()

    def plug(self, device, node="/dev/ttyUSB0"):
        """Plugs in an adapter, or a board on one, and waits until udev is through with its node."""
        device.plug()
        self.guest.until(f"os.path.exists({node!r})", PATIENCE)
        self.guest.settle()

    def unplug(self, device, node="/dev/ttyUSB0"):
        """Unplugs it, and waits until its node is gone."""
        device.unplug()
        self.guest.until(f"not os.path.exists({node!r})", PATIENCE)

    def ch340(self, port=1):
        self.adapters.append(CH340(self.machine, port))
        return self.adapters[-1]

    def ftdi(self, port=1, serial="A1B2C3"):
        self.adapters.append(FTDI(self.machine, port, serial=serial))
        return self.adapters[-1]

    def board(self, adapter):
        """A Nano with our firmware, on an adapter that is not plugged in yet.

        On a CH340 it is a Nano as it is sold: powered and reset by USB. The FTDI adapter shows no DTR, so there it is a
        board that has its own supply, and only its UART is connected.
        """
        nano = Nano()
        self.addCleanup(nano.close)
        return Wire(adapter, nano, is_powered_by_usb=isinstance(adapter, CH340))

    def answering(self, adapter):
        """An adapter with a far end that answers at once, as a pump does that is off."""
        def answer(data):
            for command in data.split(b"\n"):
                adapter.send(ANSWERS.get(command, b""))
        adapter.on_bytes = answer
        return adapter

    def pumpctl(self, *arguments, port="/dev/ttyUSB0", status=0, user=None):
        """Runs pumpctl to its end, which must be as expected; what it printed comes back."""
        result = self.guest.run("pumpctl", "--port", port, *arguments, user=user, seconds=PATIENCE)
        self.assertEqual(result.status, status, f"pumpctl {' '.join(arguments)}: {result}")
        return result

    def start_pumpctl(self, *arguments, port="/dev/ttyUSB0"):
        """Starts pumpctl; it is killed with the guest, if not before."""
        return self.guest.start("pumpctl", "--no-record", "--port", port, *arguments)

    def needs(self, feature, *help_of):
        """Skips the test where the help of pumpctl, or of one of its commands, does not name a feature."""
        if feature not in help_text(self.program, *help_of):
            self.skipTest(f"needs: {' '.join(['pumpctl', *help_of, feature])}")


@functools.cache
def help_text(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=False).stdout


def with_pumpctl(state, program, folder):
    """A saved state like the one given, in which pumpctl is installed, with what it keeps its record by."""
    result = folder / "with-pumpctl"
    with VirtualMachine.resume(state) as machine:
        # The guest's disks are its memory, and the root has less room than others.
        machine.guest.run("mkdir", "/run/pumpctl")
        for built in program, program.with_name("pumpctl-record"):
            small = folder / built.name
            subprocess.run(["strip", "-o", small, built], check=True)
            machine.guest.put(f"/run/pumpctl/{built.name}", small.read_bytes(), 0o755)
        machine.guest.run("ln", "-s", "/run/pumpctl/pumpctl", "/usr/bin/pumpctl")
        version = machine.guest.run("pumpctl", "--version")
        if version.status != 0:
            sys.exit(f"bench: pumpctl does not run in the guest: {version}")
        machine.save(result)
    return result


class Report(unittest.TestResult):
    """One line a test."""

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()
        self._verdict = "ended"
        self._details = ""
        signal.alarm(TEST_SECONDS)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)
        title = test.id().replace("test_", "").replace("_", " ")
        print(f"{self._verdict:6} {time.monotonic() - self._begun:6.1f} s  {title}{self._details}", flush=True)

    def _fail(self, test, error):
        self._verdict = "FAILED"
        self._details += "\n" + self._exc_info_to_string(error, test)
        for adapter in getattr(test, "adapters", []):
            self._details += f"{adapter}\n"
        if (machine := getattr(test, "machine", None)) and (console := machine.console()):
            self._details += f"the guest's console ends with:\n{console[-2000:]}"

    def addSuccess(self, test):
        super().addSuccess(test)
        self._verdict = "ok"

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self._fail(subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._verdict = "skip"
        self._details = f": {reason}"

    @property
    def failed(self):
        """The tests that failed, by their names. A failed subtest counts as the test that it belongs to."""
        tests = (getattr(test, "test_case", test) for test, _ in self.failures + self.errors)
        return {test.id(): test for test in tests}

    def summary(self):
        bad = self.failed
        skipped = len(self.skipped)
        text = f"{self.testsRun - len(bad) - skipped} passed, {len(bad)} failed"
        return text + (f", {skipped} skipped" if skipped else "")


def tests(patterns):
    """Those whose name, as module.class.method, has one of the patterns in it; all where there is none."""
    loader = unittest.TestLoader()
    loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns] or None
    suite = loader.discover(os.path.dirname(os.path.abspath(__file__)))
    if loader.errors:
        sys.exit("\n".join(loader.errors))
    return suite


def stop(number, frame):
    if number == signal.SIGALRM:
        raise TimeoutError(f"the test has taken {TEST_SECONDS} s")
    # unittest takes SystemExit for a failure, and goes on.
    raise KeyboardInterrupt(128 + number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pumpctl", type=pathlib.Path, required=True)
    parser.add_argument("--image", type=pathlib.Path, required=True)
    parser.add_argument("-k", dest="patterns", action="append", default=[])
    parser.add_argument("--again", action="store_true", help="run once more what failed: for a machine that others use")
    options = parser.parse_args()
    faulthandler.enable()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, stop)

    suite = tests(options.patterns)
    if suite.countTestCases() == 0:
        sys.exit("bench: there is no such test")
    begun = time.monotonic()
    booted = saved_state(options.image)
    print(f"guest ready after {time.monotonic() - begun:.1f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        BenchTest.program = options.pumpctl.resolve()
        BenchTest.state = with_pumpctl(booted, options.pumpctl, pathlib.Path(folder))
        report = Report()
        suite.run(report)
        print(f"{time.monotonic() - begun:.0f} s\n{report.summary()}", flush=True)
        if report.failed and options.again:
            print("once more, what failed:", flush=True)
            suite = unittest.TestSuite(type(test)(test._testMethodName) for test in report.failed.values())
            report = Report()
            suite.run(report)
            print(f"of these {report.summary()}")
    return 0 if report.wasSuccessful() else 1


if __name__ == "__main__":
    # The tests import this module by its name.
    sys.modules["bench"] = sys.modules["__main__"]
    try:
        sys.exit(main())
    except KeyboardInterrupt as interrupt:
        sys.exit(interrupt.args[0])
