"""Check how udev applies the rules in /run/udev/rules.d to devices mocked by umockdev. Started by ./check."""
import re
import subprocess
import sys

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

testbed = UMockdev.Testbed.new()
failures = 0


def expect(what, holds):
    """Print whether a statement holds, and count it as a failure if not."""
    global failures
    print(("ok      " if holds else "not ok  ") + what)
    failures += not holds


def adapter(path, vendor, product, driver):
    """Add a USB device with one port; return the sysfs paths of the device, its port and its tty."""
    usb = testbed.add_device("usb", path, None, ["idVendor", vendor, "idProduct", product], ["DEVTYPE", "usb_device"])
    interface = testbed.add_device("usb", path + ":1.0", usb, ["bInterfaceNumber", "00"], ["DEVTYPE", "usb_interface"])
    name = "ttyUSB" + path[-1]
    port = testbed.add_device("usb-serial", name, interface, ["port_number", "0", "latency_timer", "16"], [])
    testbed.set_attribute_link(port, "driver", "/sys/bus/usb-serial/drivers/" + driver)
    tty = testbed.add_device("tty", name, port, [], ["DEVNAME", "/dev/" + name])
    return usb, port, tty


def run(syspath):
    """Return the output of udev's test of an "add": how the rules apply, then the device's properties."""
    result = subprocess.run(["udevadm", "test", "--action=add", syspath], capture_output=True, text=True, check=False)
    return result.stdout + result.stderr


# The same assignment as in brltty's files numbered 85 and 90.
with open("/run/udev/rules.d/85-brltty.rules", "w", encoding="ascii") as rules:
    rules.write('SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ENV{BRLTTY_BRAILLE_DRIVER}="bm", '
                'ENV{SYSTEMD_WANTS}+="brltty-device@x.service"\n')

usb, port, tty = adapter("1-2", "1a86", "7523", "ch341-uart")
ch340 = run(usb)
complaints = [line for line in ch340.splitlines()
              if "pumpctl-" in line and re.search(r"nvalid|nknown|ailed|gnoring|nexpected", line)]
for line in complaints:
    print(line, file=sys.stderr)
expect("udev reads the rules without a complaint", not complaints)
expect("ModemManager keeps off a CH340", "ID_MM_DEVICE_IGNORE=1" in ch340)
expect("brltty keeps off a CH340", "brltty-device" not in ch340.split("DEVPATH=")[-1])
terminal = run(tty)
# 20 is Debian's dialout.
expect("the group may use its port", "GROUP 20" in terminal and "MODE 0660" in terminal)
expect("the user at the computer may use its port", ":uaccess:" in terminal)

usb, port, tty = adapter("1-3", "0403", "6001", "ftdi_sio")
expect("an FTDI adapter waits for 1 ms", "latency_timer' writing '1'" in run(port))

usb, port, tty = adapter("1-4", "12d1", "1001", "option1")
modem = run(usb)
expect("ModemManager may have a modem", "ID_MM_DEVICE_IGNORE" not in modem)
expect("brltty may have other devices", "brltty-device" in modem.split("DEVPATH=")[-1])
expect("other adapters keep their timer", "latency_timer' writing" not in run(port))
expect("other ports keep their group", "pumpctl" not in run(tty).split("DEVPATH=")[0].split("Reading rules file")[-1])

sys.exit(1 if failures else 0)
