#!/usr/bin/env python3
"""Use the Debian packages in a guest with systemd: packages.py --image FOLDER --packages FOLDER --next FOLDER [--jobs N]

`--next` is the folder with the packages of a later version. `make check-packages` runs this. Exit status: 0 if no test
failed or was skipped.
"""

import argparse
import json
import pathlib
import re
import signal
import sys
import tempfile
import time
import unittest

from bench import BenchTest, handle_signals, prepared
from guest import PATIENCE
from report import passes
from vm import SYSTEMD, saved_state

UNITS = "pumpctld.service", "pumpctl-page.service"
SHARE = "unix:/run/pumpctld/pump"
CONFIGURATION = b"""
[daemon]
group = "dialout"
[device.pump]
endpoint = "usb:1a86:7523"
family = "pump"
unix = "/run/pumpctld/pump"
pty = "/run/pumpctld/pump.tty"
record = true
"""
# A program that is not pumpctl: turns the pump off, and ends when that is confirmed.
PROGRAM = """
import socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
link.sendall(b"OFF\\n")
for line in link.makefile():
    print(line)
    if line.strip() == "OK":
        break
"""
# A program that sends a request to the page and prints the answer as it comes: METHOD PATH [TOKEN [BODY]]
REQUEST = """
import sys, urllib.request
method, path, token, body = (sys.argv[1:] + ["", ""])[:4]
request = urllib.request.Request("http://127.0.0.1:8080/api/v1" + path, body.encode() or None, method=method)
request.add_header("Content-Type", "application/json")
if token:
    request.add_header("Authorization", "Bearer " + token)
for line in urllib.request.urlopen(request):
    print(line.decode(), flush=True)
"""


def must(guest, *arguments):
    """Run a command as root, which must succeed; return its output."""
    result = guest.run(*arguments, seconds=5 * PATIENCE)
    assert result.status == 0, f"{' '.join(arguments)}: {result}"
    return result.out + result.err


def install(guest, folder):
    """Install the packages of a folder, and keep the configuration."""
    files = []
    for name in "pumpctl", "pumpctld":
        file, = folder.glob(f"{name}_*.deb")
        files.append(f"/var/tmp/{file.name}")
        guest.put(files[-1], file.read_bytes())
    must(guest, "dpkg", "--force-confdef", "--force-confold", "--install", *files)
    must(guest, "rm", *files)


class PackagesTest(BenchTest):
    """A test in a guest with systemd, the packages, and a user `bench` of the group dialout."""

    boot = SYSTEMD
    # The folders with the packages and with those of the next version. Set by main.
    packages = next_packages = None

    @staticmethod
    def prepare(guest):
        install(guest, PackagesTest.packages)
        must(guest, "usermod", "--append", "--groups", "dialout", "bench")

    def must(self, *arguments):
        return must(self.guest, *arguments)

    def as_user(self, *arguments, user="bench"):
        """Return a command that runs as a user with the user's groups."""
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "env", f"HOME=/home/{user}", *arguments]

    def unit(self, unit, name):
        """Return a property of a unit."""
        return self.must("systemctl", "show", "--value", f"--property={name}", unit).strip()

    def shared_pump(self, more=b""):
        """Return a board that pumpctld shares, with more in its configuration."""
        self.guest.put("/etc/pumpctl/pumpctld.toml", CONFIGURATION + more)
        board = self.board(self.ch340())
        self.plug(board)
        self.must("systemctl", "enable", "--now", "pumpctld")
        return board

    def command(self, *arguments, port=SHARE):
        """Return a command by which the user `bench` has pumpctl command a pump, by default the shared one."""
        return self.as_user("pumpctl", "--port", port, "--timeout", f"{PATIENCE}s", *arguments)

    def turn_on(self):
        """Turn the shared pump on."""
        self.assertEqual(self.must(*self.command("on")), "pump on at 70 %\n")

    def upgrade(self):
        install(self.guest, self.next_packages)
        self.assertIn("+next", self.must("dpkg-query", "--show", "pumpctl", "pumpctld"))


class Installation(PackagesTest):
    def owner(self, node):
        return self.must("stat", "--format=%G %a", node).strip()

    def test_the_rules_give_ports_to_dialout_and_the_user_at_the_computer_and_an_ftdi_adapter_1_ms_of_latency(self):
        self.plug(self.ftdi(port=1))
        self.plug(self.ch340(port=2), "/dev/ttyUSB1")
        for node in "/dev/ttyUSB0", "/dev/ttyUSB1":
            self.assertEqual(self.owner(node), "dialout 660")
            properties = self.must("udevadm", "info", node)
            self.assertIn("ID_MM_PORT_IGNORE=1", properties)
            self.assertRegex(properties, "CURRENT_TAGS=.*:uaccess:")
        self.assertEqual(self.guest.read("/sys/bus/usb-serial/devices/ttyUSB0/latency_timer"), "1")

    def test_systemd_analyze_finds_nothing_in_the_units_and_none_runs(self):
        self.assertEqual(self.must("systemd-analyze", "verify", *UNITS), "")
        for unit in UNITS:
            # 21 is the highest allowed level of exposure, times 10: that of pumpctld, which needs devices.
            table = self.must("systemd-analyze", "security", "--threshold=21", "--no-pager", unit)
            print(table.splitlines()[-1])
            self.assertEqual(self.unit(unit, "UnitFileState"), "disabled")
            self.assertEqual(self.unit(unit, "ActiveState"), "inactive")


class Service(PackagesTest):
    def test_programs_of_a_user_command_the_pump_that_pumpctld_shares(self):
        board = self.shared_pump()
        self.turn_on()
        self.assertEqual(board.nano.pump(), (True, 180))
        self.assertIn("OK", self.must(*self.as_user("python3", "-c", PROGRAM, SHARE.removeprefix("unix:"))))
        self.assertFalse(board.nano.pump()[0])
        self.guest.until("os.path.exists('/var/lib/pumpctl/record.sqlite')")

    def try_pump(self, *as_page):
        """Log in at the page by a code, and have the page test the pump; return the process of pumpctl that does it.

        `as_page` is a command that runs another one with the rights of the page.
        """
        self.guest.until("os.popen('busybox netstat -ltn | grep 127.0.0.1:8080').read()")
        page, code = self.must(*as_page, "pumpctl", "page", "--code").strip().split("#")
        self.assertEqual(page, "http://127.0.0.1:8080/")
        request = "python3", "-c", REQUEST
        token = json.loads(self.must(*request, "POST", "/session", "", json.dumps({"code": code})))["token"]
        devices = json.loads(self.must(*request, "GET", "/devices", token))["devices"]
        self.assertEqual([device["name"] for device in devices], ["pump"])
        verify = self.guest.start(*request, "POST", "/devices/pump/verify", token)
        verify.until_output("{", PATIENCE)
        return self.must("busybox", "pidof", "pumpctl").strip()

    def test_the_page_shows_the_pump_and_its_end_turns_off_the_pump_that_it_tests(self):
        board = self.shared_pump()
        self.must("systemctl", "enable", "--now", "pumpctl-page")
        process = self.try_pump(*self.as_user("STATE_DIRECTORY=/var/lib/pumpctl-page", user="pumpctl-page"))
        # Suspend `pumpctl verify`, so that it has to switch the pump off after the page has ended.
        self.must("busybox", "kill", "-STOP", process)
        sent = len(board.adapter.received)
        self.must("systemctl", "stop", "pumpctl-page")
        self.must("busybox", "kill", "-CONT", process)
        self.guest.until(f"not os.path.exists('/proc/{process}')")
        self.assertIn(b"OFF", board.adapter.received[sent:])
        self.assertFalse(board.nano.pump()[0])

    def test_the_end_of_pumpctld_interrupts_a_trial_of_its_own_page_once(self):
        self.shared_pump(b'[http]\nlisten = "8080"\n')
        daemon = self.unit("pumpctld", "MainPID")
        user = self.must("stat", "--format=%u", f"/proc/{daemon}").strip()
        process = self.try_pump(
            "nsenter", f"--target={daemon}", "--mount", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
            "env", "STATE_DIRECTORY=/var/lib/pumpctl")
        # A stopped process keeps the signals that it gets. A second one would end it before the pump is off.
        self.must("busybox", "kill", "-STOP", process)
        self.must("systemctl", "stop", "pumpctld")
        pending = re.search(r"ShdPnd:\s*(\w+)", self.guest.read(f"/proc/{process}/status"))[1]
        self.assertEqual(int(pending, 16), 1 << signal.SIGINT - 1)
        self.must("busybox", "kill", "-CONT", process)
        self.guest.until(f"not os.path.exists('/proc/{process}')")


class Upgrade(PackagesTest):
    def test_running_pumps_run_on(self):
        shared, direct = self.shared_pump(), self.board(self.ftdi(port=2))
        self.plug(direct, "/dev/ttyUSB1")
        self.turn_on()
        command = self.guest.start(*self.command("on", "--for", "30m", port="/dev/ttyUSB1"))
        command.until_output("pump on at 70 %", PATIENCE)
        daemon, edges = self.unit("pumpctld", "MainPID"), shared.adapter.dtr_edges
        self.upgrade()
        self.assertEqual(self.unit("pumpctld", "MainPID"), daemon)
        self.assertEqual(shared.adapter.dtr_edges, edges)
        for board in shared, direct:
            self.assertNotIn(b"OFF", board.adapter.received)
            self.assertEqual(board.nano.pump(), (True, 180))
        # Both programs still obey, and a restart starts another daemon.
        command.send_signal(signal.SIGINT)
        self.assertEqual(command.wait(PATIENCE).status, -signal.SIGINT, command.output())
        self.assertFalse(direct.nano.pump()[0])
        self.must(*self.command("off"))
        self.assertFalse(shared.nano.pump()[0])
        self.must("systemctl", "restart", "pumpctld")
        self.assertNotIn(self.unit("pumpctld", "MainPID"), ("0", daemon))
        self.turn_on()

    def test_of_the_stopped_units_those_that_are_enabled_are_started(self):
        self.shared_pump()
        self.must("systemctl", "stop", "pumpctld")
        self.upgrade()
        # debhelper can't leave a stopped, enabled unit stopped; docs/serve.md says how to keep it stopped.
        self.assertEqual(self.unit("pumpctld", "ActiveState"), "active")
        self.assertEqual(self.unit("pumpctl-page", "ActiveState"), "inactive")

    def test_removing_the_package_ends_the_daemon_and_leaves_the_pump_running(self):
        board = self.shared_pump()
        self.turn_on()
        edges = board.adapter.dtr_edges
        self.must("dpkg", "--remove", "pumpctld")
        self.assertEqual(self.unit("pumpctld", "MainPID"), "0")
        # An OFF or a reset would stop the pump within a second.
        board.nano.control("wait 1")
        self.assertNotIn(b"OFF", board.adapter.received)
        self.assertEqual(board.adapter.dtr_edges, edges)
        self.assertEqual(board.nano.pump(), (True, 180))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--image", type=pathlib.Path, required=True)
    parser.add_argument("--packages", type=pathlib.Path, required=True)
    parser.add_argument("--next", type=pathlib.Path, required=True)
    parser.add_argument("-k", dest="patterns", action="append")
    parser.add_argument("--jobs", type=int, default=1, help="how many tests run at once, each in a guest of its own")
    options = parser.parse_args()
    handle_signals()
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in options.patterns] if options.patterns else None
    suite = loader.loadTestsFromModule(sys.modules[__name__])
    if suite.countTestCases() == 0:
        sys.exit("packages: there is no such test")
    begun = time.monotonic()
    state = saved_state(options.image, SYSTEMD)
    print(f"guest ready after {time.monotonic() - begun:.1f} s", flush=True)
    PackagesTest.packages, PackagesTest.next_packages = options.packages, options.next
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = pathlib.Path(folder) / "installed"
        PackagesTest.states[PackagesTest.prepare] = prepared(state, PackagesTest.prepare, path, SYSTEMD)
        print(f"packages in it after {time.monotonic() - begun:.1f} s", flush=True)
        is_good = passes(suite, options.jobs)
        print(f"{time.monotonic() - begun:.0f} s in all", flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    # The tests' names begin with that of their module.
    import packages

    try:
        sys.exit(packages.main())
    except KeyboardInterrupt as interrupt:
        sys.exit(interrupt.args[0])
