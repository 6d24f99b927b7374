"""Bluetooth in the guest: adapters under the real bluetoothd, and programs that share no code with pumpctl."""

import functools
import json
import pathlib
import time

from bench import PATIENCE, BenchTest
from hm10 import HM10, Air

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"


# Functions that are defined in the guest: calls to bluetoothd.
CALLS = r"""
import re, subprocess
def bluez(path, interface, *arguments):
    call = ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", path, interface, *arguments]
    return subprocess.run(call, capture_output=True, text=True).stdout
def is_powered(adapter):
    return "boolean true" in bluez("/org/bluez/" + adapter, "org.freedesktop.DBus.Properties.Get",
                                   "string:org.bluez.Adapter1", "string:Powered")
def devices():
    objects = bluez("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    for path in sorted(set(re.findall(r'"(/org/bluez/hci\d+/dev_\w{17})"', objects))):
        text = bluez(path, "org.freedesktop.DBus.Properties.GetAll", "string:org.bluez.Device1")
        yield path, re.findall(r'"(Connected|ServicesResolved|RSSI)"\s+variant\s+\w+ (\S+)', text)
"""


class Devices:
    """The properties of each device in bluetoothd, as text for the report of a failed test."""

    def __init__(self, guest):
        self.guest = guest

    def __str__(self):
        return f"bluetoothd's devices: {self.guest.python('result = list(devices())')}"


class BluetoothTest(BenchTest):
    """A test with bluetoothd in its guest, and with HM-10s that Bumble simulates outside of the guest."""

    def setUp(self):
        super().setUp()
        self.guest.python(CALLS)
        self.adapters.append(Devices(self.guest))

    @functools.cached_property
    def air(self):
        """The radio link between the guest's adapter hci0 and the simulated HM-10s."""
        air = Air(self.machine.uart)
        self.addCleanup(air.close)
        self.guest.start("btattach", "-B", "/dev/ttyS1", "-P", "h4", "-S", "921600")
        self.until_powered("hci0")
        return air

    def hm10(self, **identity):
        """Return an HM-10 that is out of range and has nothing on its UART."""
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

    def start_program(self, name, *arguments):
        """Start a script of `programs` in the guest."""
        for program in PROGRAMS.glob("*.py"):
            self.guest.put(f"/tmp/{program.name}", program.read_bytes())
        return self.guest.start("python3", f"/tmp/{name}", *arguments)

    def central(self, adapter="hci0", name="HMSoft"):
        """Start `programs/pump_central.py`, wait until it has connected to a pump, and return it."""
        return Central(self.start_program("pump_central.py", "--adapter", adapter, "--name", name))

    def peripheral(self, *arguments, adapter="hci1"):
        """Start `programs/pump_peripheral.py`, wait until it advertises, and return its process, which takes orders."""
        process = self.start_program("pump_peripheral.py", "--adapter", adapter, *arguments)
        process.until_output("ready\n", PATIENCE)
        return process


class RadioTest(BluetoothTest):
    """A test with two adapters in its guest that hear each other: hci0 and hci1, which btvirt emulates.

    Both belong to one bluetoothd, which is configured for one ATT channel per connection, as with an ESP32. With
    Debian's configuration, bluetoothd opens three channels to another BlueZ, in which notifications overtake each other.
    """

    @staticmethod
    def prepare(guest):
        guest.python(CALLS)
        guest.run("busybox", "killall", "bluetoothd")
        guest.until("not bluez('/', 'org.freedesktop.DBus.Peer.Ping')")
        guest.run("mkdir", "-p", "/etc/bluetooth")
        guest.put("/etc/bluetooth/main.conf", b"[GATT]\nChannels = 1\n")
        guest.start(BLUETOOTHD, "--nodetach")
        # Adapters that appear while bluetoothd starts may stay without power.
        guest.until("bluez('/', 'org.freedesktop.DBus.Peer.Ping')")
        guest.start("btvirt", "-L", "-l2")
        for adapter in "hci0", "hci1":
            guest.until(f"is_powered({adapter!r})")


class Central:
    """A `pump_central.py` in the guest, connected to a pump."""

    def __init__(self, process):
        self.process = process
        self._answers = 0
        # The facts of the connection: the `mtu` and the `flags` of FFE1.
        self.facts = self._answer()

    def ask(self, command):
        """Send a command; return an object with the lines of its `reply`, and the sizes of the `pieces` that arrived."""
        self.process.feed(command + "\n")
        return self._answer()

    def reply(self, command):
        """Send a command; return the lines of its reply, without a status that a running pump has sent by itself."""
        lines = self.ask(command)["reply"]
        return lines if command == "STATUS" else [line for line in lines if not line.startswith("STATUS:")]

    def close(self):
        self.process.feed("", end=True)
        return self.process.wait(PATIENCE)

    def _answer(self):
        self._answers += 1
        process, count = self.process, self._answers
        # Twice PATIENCE, because the first answer comes after both a scan and a connection.
        process.guest.until(
            f"standard_output_of({process.id}).count('\\n') >= {count} or has_ended({process.id})", 2 * PATIENCE)
        lines = process.standard_output().split("\n")
        assert len(lines) > count, f"no answer of {process.output()}"
        return json.loads(lines[count - 1])
