#!/usr/bin/env python3
"""Run pumpctl on a real kernel, in a virtual machine: bench.py --pumpctl FILE --image FOLDER [-k PATTERN]... [--jobs N]

Prints a line for each test, the slowest tests, and the numbers of passed, failed and skipped tests. Exit status: 0 if
none failed or was skipped.
"""

import argparse
import faulthandler
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
from guest import PATIENCE
from nano import Nano
from report import TEST_SECONDS, cases, passes
from vm import BENCH, VirtualMachine, saved_state
from wire import Wire

# Prefixes of the slowest tests' names. These tests run first, so that none of them runs alone at the end.
LONGEST = ("test_deaths.", "test_ports.Endurance.", "test_pump.", "test_ble_owner.", "test_families_")

# The replies of a pump that is off, by the command.
ANSWERS = {
    b"STATUS": b"STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n",
    b"TEMP": b"TEMP:{Water:12.0C,Skin:34.5C}\r\n",
}


class BenchTest(unittest.TestCase):
    """A test with its own, freshly resumed guest, in which pumpctl is installed."""

    # The saved states from which tests start, by their `prepare` function. Set by main.
    states = {}
    # The way in which their guest was booted.
    boot = BENCH

    @staticmethod
    def prepare(guest):
        """Prepare a guest whose state is saved, once for all tests that share this function."""

    def setUp(self):
        self.machine = self.enterContext(VirtualMachine.resume(self.states[self.prepare], self.boot))
        self.guest = self.machine.guest
        self.addCleanup(self.guest.close)
        self.adapters = []

    def run(self, result=None):
        # unittest does not call the clean-ups itself if an interrupt ends the test.
        try:
            return super().run(result)
        finally:
            self.doCleanups()

    def plug(self, device, node="/dev/ttyUSB0"):
        """Plug in an adapter, or a board on an adapter, and wait until udev has processed its node."""
        device.plug()
        self.guest.until(f"os.path.exists({node!r})", PATIENCE)
        self.guest.settle()

    def unplug(self, device, node="/dev/ttyUSB0"):
        """Unplug a device, and wait until its node is gone."""
        device.unplug()
        self.guest.until(f"not os.path.exists({node!r})", PATIENCE)

    def ch340(self, port=1):
        self.adapters.append(CH340(self.machine, port))
        return self.adapters[-1]

    def ftdi(self, port=1, serial="A1B2C3"):
        self.adapters.append(FTDI(self.machine, port, serial=serial))
        return self.adapters[-1]

    def board(self, adapter):
        """Return a Nano with our firmware, on an adapter that is not plugged in yet.

        On a CH340 it is a Nano as sold: powered through USB, and reset when DTR becomes active. QEMU's FTDI adapter does
        not show DTR, so a board on it has a supply of its own, and only the UART is connected. On an HM-10, too.
        """
        nano = Nano()
        self.addCleanup(nano.close)
        return Wire(adapter, nano, is_powered_by_usb=isinstance(adapter, CH340))

    def answering(self, adapter):
        """Connect an adapter to a far end that replies at once, like a pump that is off."""
        def answer(data):
            for command in data.split(b"\n"):
                adapter.send(ANSWERS.get(command, b""))
        adapter.on_bytes = answer
        return adapter

    def pumpctl(self, *arguments, port="/dev/ttyUSB0", status=0, user=None):
        """Run pumpctl to its end, check its exit status, and return its result."""
        result = self.guest.run("pumpctl", "--port", port, *arguments, user=user, seconds=PATIENCE)
        self.assertEqual(result.status, status, f"pumpctl {' '.join(arguments)}: {result}")
        return result

    def start_pumpctl(self, *arguments, port="/dev/ttyUSB0"):
        """Start pumpctl without a record; return its process. It ends with the guest at the latest."""
        return self.guest.start("pumpctl", "--no-record", "--port", port, *arguments)


def other_program(program, name):
    """Return the path of another of our programs: in the folder of pumpctl, or where `make install` puts it."""
    beside = program.with_name(name)
    return beside if beside.exists() else program.parent.parent / "libexec/pumpctl" / name


def with_pumpctl(state, program, folder):
    """Copy a saved state, and install pumpctl, pumpctl-record and pumpctld in the copy; return its path."""
    result = folder / "with-pumpctl"
    with VirtualMachine.resume(state) as machine:
        # All file systems of the guest are in memory, and the root file system has less space than the others.
        machine.guest.run("mkdir", "/run/pumpctl")
        for built in program, other_program(program, "pumpctl-record"), other_program(program, "pumpctld"):
            small = folder / built.name
            subprocess.run(["strip", "-o", small, built], check=True)
            machine.guest.put(f"/run/pumpctl/{built.name}", small.read_bytes(), 0o755)
        machine.guest.run("ln", "-s", "/run/pumpctl/pumpctl", "/usr/bin/pumpctl")
        version = machine.guest.run("pumpctl", "--version")
        if version.status != 0:
            sys.exit(f"bench: pumpctl does not run in the guest: {version}")
        machine.save(result)
    return result


def prepared(state, prepare, path, boot=BENCH):
    """Copy a saved state to `path`, with the guest prepared; return `path`."""
    with VirtualMachine.resume(state, boot) as machine:
        prepare(machine.guest)
        machine.save(path)
    return path


def tests(patterns):
    """Return the tests whose `module.class.method` contains one of the patterns, or all if there are none.

    The slowest tests come first.
    """
    loader = unittest.TestLoader()
    loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns] or None
    suite = loader.discover(os.path.dirname(os.path.abspath(__file__)))
    if loader.errors:
        sys.exit("\n".join(loader.errors))

    def place(test):
        return next((place for place, name in enumerate(LONGEST) if test.id().startswith(name)), len(LONGEST))

    return unittest.TestSuite(sorted(cases(suite), key=place))


def stop(number, frame):
    """Handle a signal: fail the running test if its time is up, else end the bench."""
    if number == signal.SIGALRM:
        raise TimeoutError(f"the test has taken {TEST_SECONDS} s")
    # unittest treats SystemExit as a failure and continues.
    raise KeyboardInterrupt(128 + number)


def handle_signals():
    faulthandler.enable()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, stop)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pumpctl", type=pathlib.Path, required=True)
    parser.add_argument("--image", type=pathlib.Path, required=True)
    parser.add_argument("-k", dest="patterns", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1, help="how many tests run at once, each in a guest of its own")
    options = parser.parse_args()
    handle_signals()
    suite = tests(options.patterns)
    if suite.countTestCases() == 0:
        sys.exit("bench: there is no such test")
    begun = time.monotonic()
    booted = saved_state(options.image)
    print(f"guest ready after {time.monotonic() - begun:.1f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        folder = pathlib.Path(folder)
        state = with_pumpctl(booted, options.pumpctl, folder)
        BenchTest.states[BenchTest.prepare] = state
        for test in cases(suite):
            if test.prepare not in BenchTest.states:
                path = folder / f"prepared-{len(BenchTest.states)}"
                BenchTest.states[test.prepare] = prepared(state, test.prepare, path)
        print(f"pumpctl in it after {time.monotonic() - begun:.1f} s", flush=True)
        is_good = passes(suite, options.jobs)
        print(f"{time.monotonic() - begun:.0f} s in all", flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    # The tests import this module by its name.
    sys.modules["bench"] = sys.modules["__main__"]
    try:
        sys.exit(main())
    except KeyboardInterrupt as interrupt:
        sys.exit(interrupt.args[0])
