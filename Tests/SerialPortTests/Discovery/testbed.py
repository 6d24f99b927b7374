#!/usr/bin/python3
"""Mock USB serial ports that udev's library sees and the kernel does not, with umockdev.

Needs libumockdev-preload.so.0 in LD_PRELOAD. Prints the folder that stands for the system's root (UMOCKDEV_DIR of
the programs under test). Then reads one JSON object per line and prints "ok" once it is done, events included; "add"
prints the path of the new device instead:

  {"do": "plug", "node": "ttyUSB0", "path": "1-2.3", "vendor": "1a86", "product": "7523", "driver": "ch341", …}
  {"do": "unplug", "node": "ttyUSB0"}
  {"do": "add", "subsystem": "tty", "name": "tty0", "parent": "/sys/…", "attributes": {}, "properties": {}}
  {"do": "change", "node": "ttyUSB0"}
  {"do": "answer"}: from now on terminals handle their own ioctls
"""
import json
import os
import shutil
import sys

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

testbed = UMockdev.Testbed.new()
root = testbed.get_root_dir()
nodes = "/dev/shm/" + os.path.basename(root)
ports = {}


def flat(mapping):
    return [item for pair in mapping.items() for item in pair]


def add(subsystem, name, parent, attributes, properties):
    return testbed.add_device(subsystem, name, parent, flat(attributes), flat(properties))


def set_driver(syspath, bus, driver):
    testbed.set_attribute_link(syspath, "driver", f"/sys/bus/{bus}/drivers/{driver}")


def plug(node, path, vendor, product, driver, interface=0, terminal=None, product_name=None,
         manufacturer=None, serial=None, rule=None):
    device = f"/sys/devices/{path}"
    if not os.path.isdir(root + device):
        attributes = {"idVendor": vendor, "idProduct": product}
        for name, text in ("product", product_name), ("manufacturer", manufacturer), ("serial", serial):
            # With a line end, like the kernel's attributes.
            if text:
                attributes[name] = text + "\n"
        device = add("usb", path, None, attributes, {
            "DEVTYPE": "usb_device", **({"ID_MM_DEVICE_IGNORE": "1"} if rule == "device" else {})})
    number = f"{interface:02x}"
    name = f"{path}:1.{interface}"
    parent = add("usb", name, device, {"bInterfaceNumber": number}, {"DEVTYPE": "usb_interface"})
    set_driver(parent, "usb", driver)
    if node.startswith("ttyUSB"):
        attributes = {"port_number": "0"}
        if driver == "ftdi_sio":
            attributes["latency_timer"] = "16"
        parent = add("usb-serial", node, parent, attributes, {})
    name_of_node = "/dev/" + node
    if terminal:
        # In the real /dev: for a node in its own /dev, umockdev would handle the programs' terminal ioctls.
        os.makedirs(nodes, exist_ok=True)
        name_of_node = f"{nodes}/{node}"
        os.symlink(terminal, name_of_node)
    links = [f"/dev/serial/by-id/usb-{vendor}_{serial or product}-if{number}-port0",
             f"/dev/serial/by-path/pci-0000:00:14.0-usb-0:{path.split('-')[1]}:1.{interface}-port0"]
    syspath = add("tty", node, parent, {}, {
        "DEVNAME": name_of_node, "USEC_INITIALIZED": "1000",
        "ID_PATH": f"pci-0000:00:14.0-usb-0:{path.split('-')[1]}:1.{interface}", "DEVLINKS": " ".join(links),
        **({"ID_MM_PORT_IGNORE": "1"} if rule == "port" else {})})
    ports[node] = (syspath, parent, name, path)


def unplug(node):
    syspath, parent, interface, path = ports.pop(node)
    if os.path.islink(f"{nodes}/{node}"):
        os.unlink(f"{nodes}/{node}")
    testbed.uevent(syspath, "remove")
    testbed.remove_device(syspath)
    if parent.endswith("/" + node):
        testbed.remove_device(parent)
    testbed.remove_device(f"/sys/devices/{path}/{interface}")
    if not any(other[3] == path for other in ports.values()):
        testbed.remove_device(f"/sys/devices/{path}")


print(root, flush=True)
for line in sys.stdin:
    if not line.strip():
        break
    request = json.loads(line)
    action = request.pop("do")
    if action == "plug":
        plug(**request)
    elif action == "unplug":
        unplug(**request)
    elif action == "change":
        testbed.uevent(ports[request["node"]][0], "change")
    elif action == "answer":
        # While this file exists, umockdev answers every ioctl on a file of /dev with ENOTTY.
        os.unlink(root + "/ioctl/_default")
    else:
        print(add(**request), flush=True)
        continue
    print("ok", flush=True)
shutil.rmtree(nodes, ignore_errors=True)
# Deleting the testbed removes its folder.
del testbed
