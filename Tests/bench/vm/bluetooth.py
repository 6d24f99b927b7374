"""Bluetooth in the guest: its adapters under the real bluetoothd, and clients for them that are not pumpctl."""

import functools
import json
import pathlib
import time

from bench import PATIENCE, BenchTest
from hm10 import HM10, Air

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"


class VirtualRadio:
    """Two LE controllers of the guest's kernel that hear each other, as the adapters hci0 and hci1 of its one bluetoothd."""

    def __init__(self, test):
        test.guest.start("btvirt", "-L", "-l2")
        test.until_powered("hci0")
        test.until_powered("hci1")


class BluetoothTest(BenchTest):
    """A test with Bluetooth in its guest: HM-10s that Bumble plays, or a `VirtualRadio`."""

    def setUp(self):
        super().setUp()
        self.guest.python(
            "import subprocess\n"
            "def bluez(path, interface, *arguments):\n"
            "    call = ['dbus-send', '--system', '--print-reply', '--dest=org.bluez', path, interface, *arguments]\n"
            "    return subprocess.run(call, capture_output=True, text=True).stdout\n"
            "def is_powered(adapter):\n"
            "    return 'boolean true' in bluez('/org/bluez/' + adapter, 'org.freedesktop.DBus.Properties.Get',\n"
            "        'string:org.bluez.Adapter1', 'string:Powered')\n")

    @functools.cached_property
    def air(self):
        """The air around the guest's adapter hci0, at which HM-10s are."""
        air = Air(self.machine.uart)
        self.addCleanup(air.close)
        self.guest.start("btattach", "-B", "/dev/ttyS1", "-P", "h4", "-S", "921600")
        self.until_powered("hci0")
        return air

    def hm10(self, **identity):
        """An HM-10 with nothing at its UART, out of sight."""
        self.adapters.append(HM10(self.air, **identity))
        return self.adapters[-1]

    def until_powered(self, adapter, is_powered=True):
        self.guest.until(f"is_powered({adapter!r}) == {is_powered}", PATIENCE)

    def set_powered(self, adapter, is_powered):
        self.guest.python(
            f"bluez('/org/bluez/{adapter}', 'org.freedesktop.DBus.Properties.Set', 'string:org.bluez.Adapter1',"
            f" 'string:Powered', 'variant:boolean:{str(is_powered).lower()}')")
        self.until_powered(adapter, is_powered)

    def stop_bluetoothd(self):
        self.guest.run("busybox", "killall", "bluetoothd")
        self.guest.until("not bluez('/', 'org.freedesktop.DBus.Peer.Ping')", PATIENCE)

    def start_bluetoothd(self, adapter="hci0"):
        self.guest.start(BLUETOOTHD, "--nodetach")
        self.until_powered(adapter)

    def keep_order(self):
        """Starts bluetoothd anew with one channel a connection, as an ESP32 has it.

        Debian's 5.66 opens three to its like, and notifications in them overtake each other."""
        self.stop_bluetoothd()
        self.guest.run("mkdir", "-p", "/etc/bluetooth")
        self.guest.put("/etc/bluetooth/main.conf", b"[GATT]\nChannels = 1\n")
        self.guest.start(BLUETOOTHD, "--nodetach")
        self.guest.until("bluez('/', 'org.freedesktop.DBus.Peer.Ping')", PATIENCE)

    def start_program(self, name, *arguments):
        """Starts one of `programs` in the guest."""
        for program in PROGRAMS.glob("*.py"):
            self.guest.put(f"/tmp/{program.name}", program.read_bytes())
        return self.guest.start("python3", f"/tmp/{name}", *arguments)

    def central(self, adapter="hci0", name="HMSoft"):
        """A pump's central that is not pumpctl, connected."""
        return Central(self.start_program("pump_central.py", "--adapter", adapter, "--name", name))

    def peripheral(self, *arguments, adapter="hci1"):
        """A pump that is not ours, advertising; a process to be told things (see the program)."""
        process = self.start_program("pump_peripheral.py", "--adapter", adapter, *arguments)
        process.until_output("ready\n", PATIENCE)
        return process


class Central:
    """The guest's `pump_central.py`, connected to a pump."""

    def __init__(self, process):
        self.process = process
        self._answers = 0
        # The facts of the connection: the `mtu`, the `flags` of FFE1.
        self.facts = self._answer()

    def ask(self, command):
        """Sends a command; what comes back has the lines of its `reply`, and the sizes of the `pieces` they came in."""
        self.process.feed(command + "\n")
        return self._answer()

    def reply(self, command):
        return self.ask(command)["reply"]

    def close(self):
        self.process.feed("", end=True)
        return self.process.wait(PATIENCE)

    def _answer(self):
        self._answers += 1
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            has_ended = self.process.ended_within(0.05)
            lines = self.process.standard_output().split("\n")
            if len(lines) > self._answers:
                return json.loads(lines[self._answers - 1])
            assert not has_ended and time.monotonic() < deadline, f"no answer of {self.process.output()}"
