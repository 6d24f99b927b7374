"""HM-10 modules near the guest, simulated with Bumble, with the MTU of 23 that real ones have.

Bumble also simulates the guest's adapter: its HCI (H4) is the far end of the guest's second serial port.
"""

import asyncio
import threading

from bumble.att import ATT_Handle_Value_Notification
from bumble.controller import Controller
from bumble.core import AdvertisingData, PhysicalTransport
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, HCI_ErrorCode, LeFeatureMask, OwnAddressType
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport.unix import open_unix_client_transport

from guest import PATIENCE

# The most bytes of a notification at an MTU of 23.
PIECE = 20
# The module notifies its buffer after this many seconds of silence on its UART; at 9600 baud a byte takes 1 ms.
UART_QUIET = 0.005
ADVERTISING_MILLISECONDS = 100


def public(address):
    return Address(address, Address.PUBLIC_DEVICE_ADDRESS)


class Link(LocalLink):
    """A radio link on which data come from the address that a connection uses.

    With Bumble's own class they come from the random address, also if a device uses its public one.
    """

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        connection = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if connection and receiver:
            asyncio.get_running_loop().call_soon(
                receiver.on_link_acl_data, connection.self_address, PhysicalTransport.LE, data)


class Air:
    """The radio link of the guest's adapter and the modules, and the thread on which all of them run."""

    def __init__(self, path):
        """Connect the guest's adapter.

        `path` is the socket on which QEMU offers the far end of the guest's second serial port.
        """
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self._open(path))

    async def _open(self, path):
        self.link = Link()
        self._uart = await open_unix_client_transport(path)
        adapter = Controller("adapter", host_source=self._uart.source, host_sink=self._uart.sink, link=self.link,
                             public_address=public("00:1A:7D:DA:71:01"))
        # With LL privacy or extended advertising, Linux waits for an enhanced connection event, which Bumble never
        # sends.
        adapter.le_features = (
            LeFeatureMask.LE_ENCRYPTION | LeFeatureMask.LE_PING | LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION)

    def run(self, coroutine):
        """Run a coroutine on the link's thread; return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    def call(self, function, *arguments):
        """Schedule a call of a function on the link's thread."""
        self._loop.call_soon_threadsafe(function, *arguments)

    def close(self):
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self):
        await self._uart.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class HM10:
    """A module that is out of range until it is plugged in.

    A `Wire` uses it like an adapter: `on_bytes` is called with a central's writes, and `send` takes the bytes that arrive
    at the module's UART.
    """

    def __init__(self, air, name="HMSoft", address="A4:D5:78:0B:11:22"):
        self.on_bytes = lambda data: None
        # Set by a `Wire`, and never called: a module has no DTR.
        self.on_dtr_edge = lambda: None
        self.name = name
        self.address = address
        # The data of each write to the module, and of each notification from it.
        self.writes = []
        self.notifications = []
        self.connections = 0
        # The notification that a central gets before its subscription is confirmed; None for none.
        self.greeting = None
        # The number of the write at which the link is dropped; None for never.
        self.drops_after = None
        self.changed = threading.Condition()
        self._air = air
        self._is_in_sight = False
        self._connection = None
        self._is_subscribed = False
        self._pending = b""
        self._flush_timer = None
        air.run(self._begin())

    def __str__(self):
        return f"HM10 {self.name}, written {self.writes[-10:]}, notified {self.notifications[-20:]}"

    async def _begin(self):
        host = Host()
        host.controller = Controller(self.name, link=self._air.link, public_address=public(self.address))
        configuration = DeviceConfiguration(
            name=self.name, address=public(self.address),
            advertising_interval_min=ADVERTISING_MILLISECONDS, advertising_interval_max=ADVERTISING_MILLISECONDS)
        self._device = Device(config=configuration, host=host)
        kinds = Characteristic.Properties
        self._ffe1 = Characteristic(
            "FFE1", kinds.READ | kinds.WRITE_WITHOUT_RESPONSE | kinds.NOTIFY,
            Characteristic.READABLE | Characteristic.WRITEABLE,
            CharacteristicValue(read=lambda connection: b"\0", write=self._take))
        self._ffe1.on(Characteristic.EVENT_SUBSCRIPTION, self._subscribed)
        self._device.add_service(Service("FFE0", [self._ffe1]))
        self._device.gatt_server.max_mtu = 23
        self._device.on(Device.EVENT_CONNECTION, self._connected)
        await self._device.power_on()

    # The module's range and its link.

    def plug(self):
        """Come into range: advertise, and accept a connection."""
        self._is_in_sight = True
        self._air.run(self._advertise())

    def unplug(self):
        """Go out of range; the link ends with a connection time-out."""
        self._is_in_sight = False
        self._air.run(self._vanish())

    def disconnect(self):
        """Drop the link, and advertise again."""
        self._air.run(self._drop(HCI_ErrorCode.REMOTE_USER_TERMINATED_CONNECTION_ERROR))

    @property
    def is_connected(self):
        return self._connection is not None

    @property
    def object_paths(self):
        """The object paths of bluetoothd for the module and for its characteristic."""
        device = "/org/bluez/hci0/dev_" + self.address.replace(":", "_")
        # The value's attribute follows those of the characteristic and of the service.
        value = self._ffe1.handle
        return device, f"{device}/service{value - 2:04x}/char{value - 1:04x}"

    def until(self, condition, seconds=PATIENCE):
        """Wait until a condition on the module holds."""
        with self.changed:
            assert self.changed.wait_for(condition, seconds), f"not within {seconds} s: {self}"

    async def _advertise(self):
        advertised = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, bytes([6])),
            (AdvertisingData.INCOMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes.fromhex("e0ff")),
            (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())]))
        await self._device.start_advertising(advertising_data=advertised, own_address_type=OwnAddressType.PUBLIC)

    async def _vanish(self):
        await self._device.stop_advertising()
        await self._drop(HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    async def _drop(self, reason):
        if self._connection:
            await self._device.disconnect(self._connection, reason)

    def _connected(self, connection):
        connection.on(connection.EVENT_DISCONNECTION, self._disconnected)
        with self.changed:
            self._connection = connection
            self.connections += 1
            self.changed.notify_all()

    def _disconnected(self, reason):
        with self.changed:
            self._connection = None
            self._is_subscribed = False
            self.changed.notify_all()
        if self._is_in_sight:
            asyncio.ensure_future(self._advertise())

    # The characteristic and the UART.

    def _take(self, connection, data):
        with self.changed:
            self.writes.append(bytes(data))
            self.changed.notify_all()
        if self.drops_after == len(self.writes):
            asyncio.ensure_future(self._drop(HCI_ErrorCode.REMOTE_USER_TERMINATED_CONNECTION_ERROR))
        else:
            self.on_bytes(bytes(data))

    @property
    def received(self):
        """All bytes written so far."""
        return b"".join(self.writes)

    def _subscribed(self, connection, is_notified, is_indicated):
        self._is_subscribed = is_notified
        if self.greeting:
            self._notify(self.greeting)

    def send(self, data):
        """Send bytes from the UART to the central; drop them if no central has subscribed."""
        self._air.call(self._gather, data)

    def _gather(self, data):
        self._pending += data
        if self._flush_timer:
            self._flush_timer.cancel()
        self._flush_timer = asyncio.get_running_loop().call_later(UART_QUIET, self._flush)

    def _flush(self):
        data, self._pending = self._pending, b""
        self._notify(data)

    def _notify(self, data):
        if not self._is_subscribed:
            return
        for begin in range(0, len(data), PIECE):
            piece = data[begin:begin + PIECE]
            self.notifications.append(piece)
            self._device.gatt_server.send_gatt_pdu(
                self._connection, bytes(ATT_Handle_Value_Notification(attribute_handle=self._ffe1.handle, attribute_value=piece)))
