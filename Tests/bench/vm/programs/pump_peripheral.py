#!/usr/bin/env python3
"""A pump behind an HM-10, as a BlueZ peripheral: pump_peripheral.py [--adapter hci0] [--name HMSoft] [--piece 20]

Shares no code with pumpctl. The replies are fixed; the pump's only state is whether it is on, and its PWM value. Reports
its events on standard output, one per line: `ready`, `subscribed`, `unsubscribed`, `wrote SPEED:200\\n`, and `released`
when bluetoothd has ended the advertisement. Takes orders from standard input, one per line:

    delay 0.5           delay each reply by this many seconds
    say MANUAL:ON       send an unsolicited line
    greet HELLO:pump    send a line to each subscriber before its subscription is confirmed
    disconnect          drop every central
"""

import argparse
import asyncio
import sys

from bluez import DEVICE, FFE0, FFE1, BlueZ, run, standard_input, tell
from dbus_fast.constants import PropertyAccess
from dbus_fast.service import ServiceInterface, dbus_property, method

APPLICATION, SERVICE, CHARACTERISTIC, ADVERTISEMENT = "/pump", "/pump/service", "/pump/service/data", "/advertisement"


class Pump:
    """A pump with replies like those of the firmware."""

    def __init__(self):
        self.is_on = False
        self.pwm = 0

    def reply(self, command):
        name, _, argument = command.upper().partition(":")
        if name == "ON":
            self.is_on, self.pwm = True, 180
            return ["OK", "PUMP:ON"]
        if name == "OFF":
            self.is_on = False
            return ["OK", "PUMP:OFF"]
        if name == "SPEED":
            if not self.is_on:
                return ["ERROR:PUMP_NOT_RUNNING"]
            if int(argument) > 255:
                return ["ERROR:INVALID_SPEED_VALUE"]
            self.pwm = int(argument)
            return ["OK", f"SPEED:{self.pwm}"]
        if name == "STATUS":
            state = f"State:ON,Speed:{self.pwm * 100 // 255}%,Runtime:0m,Remaining:30m" if self.is_on else "State:OFF"
            return [f"STATUS:{{{state},WaterTemp:12.0C,SkinTemp:34.5C}}"]
        if name == "TEMP":
            return ["TEMP:{Water:12.0C,Skin:34.5C}"]
        return ["ERROR:UNKNOWN_COMMAND"]


class Service(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.GattService1")

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":
        return FFE0

    @dbus_property(access=PropertyAccess.READ)
    def Primary(self) -> "b":
        return True


class Characteristic(ServiceInterface):
    """FFE1: each written line is a command, and its reply is notified in pieces."""

    def __init__(self, pump, piece):
        super().__init__("org.bluez.GattCharacteristic1")
        self.pump = pump
        self.piece = piece
        self.delay = 0
        self.greeting = None
        self._value = b""
        self._line = b""
        self._replies = asyncio.Queue()
        self._worker = asyncio.create_task(self._reply())

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":
        return FFE1

    @dbus_property(access=PropertyAccess.READ)
    def Service(self) -> "o":
        return SERVICE

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> "as":
        return ["read", "write-without-response", "notify"]

    @dbus_property(access=PropertyAccess.READ)
    def Value(self) -> "ay":
        return self._value

    @method()
    def ReadValue(self, options: "a{sv}") -> "ay":
        return self._value

    @method()
    def WriteValue(self, value: "ay", options: "a{sv}"):
        data = bytes(value)
        tell("wrote " + data.decode().encode("unicode_escape").decode())
        *lines, self._line = (self._line + data.replace(b"\r", b"\n")).split(b"\n")
        for line in filter(None, lines):
            self._replies.put_nowait(self.pump.reply(line.decode()))

    @method()
    def StartNotify(self):
        tell("subscribed")
        if self.greeting:
            self.say(self.greeting)

    @method()
    def StopNotify(self):
        tell("unsubscribed")

    def say(self, line):
        data = line.encode() + b"\r\n"
        for begin in range(0, len(data), self.piece):
            self._value = data[begin:begin + self.piece]
            self.emit_properties_changed({"Value": self._value})

    async def _reply(self):
        while True:
            lines = await self._replies.get()
            await asyncio.sleep(self.delay)
            for line in lines:
                self.say(line)


class Advertisement(ServiceInterface):
    def __init__(self, name):
        super().__init__("org.bluez.LEAdvertisement1")
        self._name = name

    @dbus_property(access=PropertyAccess.READ)
    def Type(self) -> "s":
        return "peripheral"

    @dbus_property(access=PropertyAccess.READ)
    def ServiceUUIDs(self) -> "as":
        return [FFE0]

    @dbus_property(access=PropertyAccess.READ)
    def LocalName(self) -> "s":
        return self._name

    @method()
    def Release(self):
        tell("released")


async def disconnect(bluez):
    """Disconnect all devices from the adapter."""
    for path, properties in await bluez.objects(DEVICE):
        if properties["Connected"]:
            await bluez.call(path, DEVICE, "Disconnect")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adapter", default="hci0")
    parser.add_argument("--name", default="HMSoft")
    parser.add_argument("--piece", type=int, default=20, help="bytes in a notification")
    options = parser.parse_args()

    bluez = await BlueZ.connect(options.adapter)
    characteristic = Characteristic(Pump(), options.piece)
    bluez.bus.export(SERVICE, Service())
    bluez.bus.export(CHARACTERISTIC, characteristic)
    bluez.bus.export(ADVERTISEMENT, Advertisement(options.name))
    # A connected central shows the adapter's name, not the advertised one.
    await bluez.set_alias(options.name)
    await bluez.call(bluez.adapter, "org.bluez.GattManager1", "RegisterApplication", "oa{sv}", APPLICATION, {})
    await bluez.call(bluez.adapter, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", "oa{sv}", ADVERTISEMENT, {})
    tell("ready")

    orders = await standard_input()
    while order := (await orders.readline()).decode().rstrip("\n"):
        name, _, argument = order.partition(" ")
        if name == "delay":
            characteristic.delay = float(argument)
        elif name == "say":
            characteristic.say(argument)
        elif name == "greet":
            characteristic.greeting = argument
        elif name == "disconnect":
            await disconnect(bluez)
        else:
            sys.exit(f"no such order: {order}")


run(main)
