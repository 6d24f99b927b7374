"""A simulated USB device: the device's side of the usbredir protocol, as far as QEMU uses it for serial adapters.

The protocol: https://gitlab.freedesktop.org/spice/usbredir, docs/usb-redirection-protocol.md
"""

import struct
import threading

# Packet types.
HELLO, DEVICE_CONNECT, DEVICE_DISCONNECT, RESET, INTERFACE_INFO, EP_INFO = range(6)
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION_STATUS = 6, 7, 8
SET_ALT_SETTING, GET_ALT_SETTING, ALT_SETTING_STATUS = 9, 10, 11
START_INTERRUPT_RECEIVING, STOP_INTERRUPT_RECEIVING, INTERRUPT_RECEIVING_STATUS = 15, 16, 17
CANCEL_DATA_PACKET = 21
CONTROL_PACKET, BULK_PACKET = 100, 101

# The capabilities that QEMU requires on an xHCI bus: device version, packet sizes in EP_INFO, 64-bit ids, 32-bit bulk
# lengths.
CAPABILITIES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6

SUCCESS, CANCELLED, STALL = 0, 1, 4
FULL_SPEED = 1
# The bytes that the device keeps for a computer whose port is closed; chosen.
CLOSED_BUFFER_SIZE = 64
BULK, INTERRUPT, INVALID = 2, 3, 255
DIRECTION_IN = 0x80
GET_DESCRIPTOR = 6

CONTROL = struct.Struct("<BBBBHHH")
BULK_HEADER = struct.Struct("<BBHIH")


class Stall(Exception):
    """A control transfer that the device does not support."""


class RedirectedDevice:
    """A plugged-in device with one bulk endpoint in each direction and one interrupt endpoint."""

    bulk_in, bulk_out, interrupt_in = 0x82, 0x02, 0x81

    def __init__(self, connection, vendor, product, version, descriptors, handler):
        """Create a device that `serve` plugs in.

        `handler` has `control(request_type, request, value, index)`, which returns bytes, and `take(data)`.
        `descriptors` maps (type, index) to bytes.
        """
        self._connection = connection
        self._identity = vendor, product, version
        self._descriptors = descriptors
        self._handler = handler
        self._lock = threading.Lock()
        # The ids of the computer's pending reads. `_outgoing` has the bytes that no read has taken yet.
        self._readers = []
        # Whether the computer's port is open: then its driver keeps reads pending, and it cancels them at the end.
        self._is_read = False
        self._outgoing = bytearray()

    def serve(self):
        """Plug the device in, and simulate it until either side closes the connection."""
        self._send(HELLO, b"pumpctl bench".ljust(64, b"\0") + struct.pack("<I", CAPABILITIES))
        self._read_packet(struct.Struct("<III"))
        self._connect()
        while True:
            kind, packet_id, body = self._read_packet(struct.Struct("<IIQ"))
            self._handle(kind, packet_id, body)

    def send(self, data):
        """Send bytes to the computer on the bulk endpoint. While its port is closed, keep the first 64 bytes at most."""
        with self._lock:
            self._outgoing += data
            if not self._is_read:
                del self._outgoing[CLOSED_BUFFER_SIZE:]
            self._deliver()

    def _read_packet(self, header):
        kind, size, packet_id = header.unpack(self._read(header.size))
        return kind, packet_id, self._read(size)

    def _read(self, count):
        data = b""
        while len(data) < count:
            piece = self._connection.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _send(self, kind, body, packet_id=0):
        # In the first packet ids have 32 bits, because the sides have not agreed on 64 bits yet.
        header = struct.pack("<III" if kind == HELLO else "<IIQ", kind, len(body), packet_id)
        self._connection.sendall(header + body)

    def _connect(self):
        def row(values, form="B"):
            """Pack one value for each endpoint: 0x00 to 0x0F out, then 0x80 to 0x8F in."""
            cells = [values.get("other", 0)] * 32
            for endpoint, value in values.items():
                if endpoint != "other":
                    cells[(endpoint & DIRECTION_IN) >> 3 | endpoint & 0x0F] = value
            return struct.pack(f"<32{form}", *cells)

        vendor_class = row({0x00: 0xFF})
        self._send(INTERFACE_INFO, struct.pack("<I", 1) + row({}) + vendor_class + row({0x00: 1}) + row({0x00: 2}))
        types = {"other": INVALID, 0x00: 0, 0x80: 0, self.bulk_in: BULK, self.bulk_out: BULK, self.interrupt_in: INTERRUPT}
        sizes = {0x00: 8, 0x80: 8, self.bulk_in: 32, self.bulk_out: 32, self.interrupt_in: 8}
        self._send(EP_INFO, row(types) + row({self.interrupt_in: 1}) + row({}) + row(sizes, "H"))
        self._send(DEVICE_CONNECT, struct.pack("<BBBBHHH", FULL_SPEED, 0xFF, 0, 0, *self._identity))

    def _handle(self, kind, packet_id, body):
        if kind == SET_CONFIGURATION:
            self._send(CONFIGURATION_STATUS, bytes([SUCCESS, body[0]]), packet_id)
        elif kind == GET_CONFIGURATION:
            self._send(CONFIGURATION_STATUS, bytes([SUCCESS, 1]), packet_id)
        elif kind == SET_ALT_SETTING:
            self._send(ALT_SETTING_STATUS, bytes([SUCCESS, body[0], body[1]]), packet_id)
        elif kind == GET_ALT_SETTING:
            self._send(ALT_SETTING_STATUS, bytes([SUCCESS, body[0], 0]), packet_id)
        elif kind in (START_INTERRUPT_RECEIVING, STOP_INTERRUPT_RECEIVING):
            self._send(INTERRUPT_RECEIVING_STATUS, bytes([SUCCESS, body[0]]), packet_id)
        elif kind == CANCEL_DATA_PACKET:
            self._cancel(packet_id)
        elif kind == CONTROL_PACKET:
            self._control(packet_id, body)
        elif kind == BULK_PACKET:
            self._bulk(packet_id, body)

    def _control(self, packet_id, body):
        endpoint, request, request_type, _, value, index, size = CONTROL.unpack_from(body)
        status, data = SUCCESS, b""
        try:
            data = self._answer(request_type, request, value, index)[:size]
        except Stall:
            status = STALL
        if request_type & DIRECTION_IN:
            size = len(data)
        packet = CONTROL.pack(endpoint, request, request_type, status, value, index, size)
        self._send(CONTROL_PACKET, packet + data, packet_id)

    def _answer(self, request_type, request, value, index):
        if (request_type, request) == (DIRECTION_IN, GET_DESCRIPTOR):
            if (descriptor := self._descriptors.get((value >> 8, value & 0xFF))) is None:
                raise Stall
            return descriptor
        return self._handler.control(request_type, request, value, index)

    def _bulk(self, packet_id, body):
        endpoint, _, size, stream, _ = BULK_HEADER.unpack_from(body)
        if endpoint & DIRECTION_IN:
            with self._lock:
                self._readers.append(packet_id)
                self._is_read = True
                self._deliver()
        else:
            self._handler.take(body[BULK_HEADER.size:][:size])
            self._send(BULK_PACKET, BULK_HEADER.pack(endpoint, SUCCESS, size, stream, 0), packet_id)

    def _cancel(self, packet_id):
        with self._lock:
            if packet_id in self._readers:
                self._readers.remove(packet_id)
                self._is_read = bool(self._readers)
                self._send(BULK_PACKET, BULK_HEADER.pack(self.bulk_in, CANCELLED, 0, 0, 0), packet_id)

    def _deliver(self):
        while self._readers and self._outgoing:
            data = bytes(self._outgoing[:32])
            del self._outgoing[:32]
            header = BULK_HEADER.pack(self.bulk_in, SUCCESS, len(data), 0, 0)
            self._send(BULK_PACKET, header + data, self._readers.pop(0))
