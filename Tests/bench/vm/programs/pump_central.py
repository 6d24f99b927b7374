#!/usr/bin/env python3
"""A central that drives a pump and shares no code with pumpctl: pump_central.py [--adapter hci0] [--name HMSoft]

Connects, and prints the facts of the connection as a JSON object. Then takes commands from standard input, one per
line, and prints a JSON object with the reply's lines for each. Ends with its input, at an empty line, or when the link
is lost.
"""

import argparse
import asyncio
import json
import sys

from bluez import CHARACTERISTIC, DEVICE, FFE1, BlueZ, run, standard_input, tell
from dbus_fast import Variant

# The beginning of a reply's last line, by the command without its argument.
LAST_LINE = {"ON": "PUMP:", "OFF": "PUMP:", "SPEED": "SPEED:", "STATUS": "STATUS:", "TEMP": "TEMP:"}
# The time limit for finding the device, for resolving its services, and for each reply.
SECONDS = 120


class Central:
    def __init__(self, bluez):
        self.bluez = bluez
        bluez.on_change = self._take
        self.device = None
        self.characteristic = None
        # The sizes of the notifications since the last command, and the lines that have come and are not printed yet.
        self.pieces = []
        self.lines = asyncio.Queue()
        self.lost = asyncio.Event()
        self._rest = b""
        self._changed = asyncio.Event()

    def _take(self, path, interface, values):
        self._changed.set()
        if path == self.device and values.get("Connected") is False:
            self.lost.set()
        if path == self.characteristic and "Value" in values:
            self.pieces.append(len(values["Value"]))
            *lines, self._rest = (self._rest + values["Value"]).split(b"\n")
            for line in lines:
                self.lines.put_nowait(line.decode().rstrip("\r"))

    async def connect(self, name):
        await self.bluez.call(self.bluez.adapter, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}",
                              {"Transport": Variant("s", "le")})
        await self.bluez.call(self.bluez.adapter, "org.bluez.Adapter1", "StartDiscovery")
        device = await self._until(self._in_sight, name)
        await self.bluez.call(self.bluez.adapter, "org.bluez.Adapter1", "StopDiscovery")
        await self.bluez.call(device, DEVICE, "Connect")
        self.device = device
        await self._until(self.bluez.get, device, DEVICE, "ServicesResolved")
        self.characteristic, properties = next(
            (path, properties) for path, properties in await self.bluez.objects(CHARACTERISTIC, below=device)
            if properties["UUID"] == FFE1)
        await self.bluez.call(self.characteristic, CHARACTERISTIC, "StartNotify")
        mtu = await self.bluez.get(self.characteristic, CHARACTERISTIC, "MTU")
        tell(json.dumps({"connected": device, "mtu": mtu, "flags": sorted(properties["Flags"])}))

    async def _in_sight(self, name):
        # bluetoothd has no signal strength for a device that it does not hear.
        return next((path for path, properties in await self.bluez.objects(DEVICE)
                     if properties["Alias"] == name and "RSSI" in properties), None)

    async def _until(self, question, *arguments):
        """Call `question` now, and again after changes, until its answer is true; return the answer."""
        async with asyncio.timeout(SECONDS):
            while True:
                self._changed.clear()
                if answer := await question(*arguments):
                    return answer
                await self._changed.wait()

    async def converse(self, commands):
        while command := (await commands.readline()).decode().rstrip("\n"):
            self.pieces.clear()
            # bluetoothd does not split a write without response.
            room = await self.bluez.get(self.characteristic, CHARACTERISTIC, "MTU") - 3
            data = command.encode() + b"\n"
            for begin in range(0, len(data), room):
                await self.bluez.call(self.characteristic, CHARACTERISTIC, "WriteValue", "aya{sv}",
                                      data[begin:begin + room], {"type": Variant("s", "command")})
            tell(json.dumps({"command": command, "reply": await self._reply(command), "pieces": self.pieces}))

    async def _reply(self, command):
        """Return the lines up to the last one of the reply; unsolicited lines may be among them."""
        last = LAST_LINE.get(command.split(":")[0].upper(), "ERROR:")
        lines = []
        async with asyncio.timeout(SECONDS):
            while not lines or not lines[-1].startswith((last, "ERROR:")):
                lines.append(await self.lines.get())
        return lines


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adapter", default="hci0")
    parser.add_argument("--name", default="HMSoft")
    options = parser.parse_args()
    central = Central(await BlueZ.connect(options.adapter))
    await central.connect(options.name)
    conversation = asyncio.create_task(central.converse(await standard_input()))
    loss = asyncio.create_task(central.lost.wait())
    await asyncio.wait([conversation, loss], return_when=asyncio.FIRST_COMPLETED)
    if central.lost.is_set():
        sys.exit("the link is lost")
    await conversation
    await central.bluez.call(central.device, DEVICE, "Disconnect")


run(main)
