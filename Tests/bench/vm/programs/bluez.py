"""Common parts of the programs for the guest: calls to bluetoothd with dbus-fast, and orders on standard input."""

import asyncio
import sys

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

# The end of every 128-bit UUID that stands for a 16-bit one.
BASE = "-0000-1000-8000-00805f9b34fb"
FFE0, FFE1 = "0000ffe0" + BASE, "0000ffe1" + BASE
DEVICE, CHARACTERISTIC = "org.bluez.Device1", "org.bluez.GattCharacteristic1"


def tell(what):
    print(what, flush=True)


class BlueZError(Exception):
    """A call that bluetoothd answered with an error."""


class BlueZ:
    """A connection to bluetoothd for one of its adapters."""

    @classmethod
    async def connect(cls, adapter):
        bluez = cls()
        bluez.adapter = "/org/bluez/" + adapter
        bluez.bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
        # Called with an object's path, an interface, and the changed values of that interface.
        bluez.on_change = lambda path, interface, values: None
        bluez.bus.add_message_handler(bluez._take)
        await bluez._ask(Message(
            destination="org.freedesktop.DBus", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
            member="AddMatch", signature="s", body=["type='signal',sender='org.bluez'"]))
        return bluez

    async def call(self, path, interface, member, signature="", *arguments):
        return await self._ask(Message(
            destination="org.bluez", path=path, interface=interface, member=member, signature=signature,
            body=list(arguments)))

    async def _ask(self, message):
        answer = await self.bus.call(message)
        if answer.message_type is MessageType.ERROR:
            raise BlueZError(f"{message.member}: {answer.error_name}: {answer.body}")
        return answer.body

    async def get(self, path, interface, name):
        value, = await self.call(path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name)
        return value.value

    async def set_alias(self, name):
        await self.call(self.adapter, "org.freedesktop.DBus.Properties", "Set", "ssv",
                        "org.bluez.Adapter1", "Alias", Variant("s", name))

    async def objects(self, interface, below=None):
        """Return the paths and properties of the objects with this interface, below the path `below` or the adapter."""
        objects, = await self.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        return [(path, {name: value.value for name, value in interfaces[interface].items()})
                for path, interfaces in objects.items()
                if interface in interfaces and path.startswith((below or self.adapter) + "/")]

    def _take(self, message):
        if message.message_type is MessageType.SIGNAL and message.member == "PropertiesChanged":
            interface, values, _ = message.body
            self.on_change(message.path, interface, {name: value.value for name, value in values.items()})
        elif message.message_type is MessageType.SIGNAL and message.member == "InterfacesAdded":
            self.on_change(message.body[0], None, {})


async def standard_input():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def run(main):
    """Run a program's main function; on failure, exit with one line on standard error."""
    try:
        asyncio.run(main())
    except BlueZError as error:
        sys.exit(str(error))
    except TimeoutError:
        sys.exit("what was waited for has not come")
