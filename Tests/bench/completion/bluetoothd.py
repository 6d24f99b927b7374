#!/usr/bin/python3
"""A bus with a stand-in for bluetoothd that knows one device, so that a completion of `ble:` needs no scan.

Prints the address of the bus, and then the name of each method that is called, one per line. A scan would call other
methods than GetManagedObjects. Ends when standard input does.
"""
import subprocess
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

INTERFACE = """<node><interface name='org.freedesktop.DBus.ObjectManager'>
<method name='GetManagedObjects'><arg type='a{oa{sa{sv}}}' direction='out'/></method></interface></node>"""
ADAPTER = {"Address": GLib.Variant("s", "00:00:5E:00:53:01"), "Powered": GLib.Variant("b", True)}
DEVICE = {
    "Address": GLib.Variant("s", "00:15:83:00:00:20"), "AddressType": GLib.Variant("s", "public"),
    "Name": GLib.Variant("s", "Sprinter"), "Adapter": GLib.Variant("o", "/org/bluez/hci0")}
OBJECTS = {
    "/org/bluez/hci0": {"org.bluez.Adapter1": ADAPTER},
    "/org/bluez/hci0/dev_00_15_83_00_00_20": {"org.bluez.Device1": DEVICE}}


def answer(connection, sender, path, interface, method, parameters, invocation):
    print(method, flush=True)
    invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (OBJECTS,)))


daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True)
address = daemon.stdout.readline().strip()
flags = Gio.DBusConnectionFlags
bus = Gio.DBusConnection.new_for_address_sync(
    address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
bus.register_object("/", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], answer, None, None)
loop = GLib.MainLoop()


def begin(*_):
    print(address, flush=True)


Gio.bus_own_name_on_connection(bus, "org.bluez", Gio.BusNameOwnerFlags.NONE, begin, None)
GLib.io_add_watch(sys.stdin, GLib.IO_HUP, lambda *_: loop.quit())
try:
    loop.run()
finally:
    daemon.kill()
