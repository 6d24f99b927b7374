"""A CH340 adapter, as on a cheap Nano, that records every setting that the computer makes, and each edge of DTR.

Registers and requests follow Linux's drivers/usb/serial/ch341.c. Like a real CH340 it has no serial number.
"""

import struct

import usbredir
from adapter import Adapter

VENDOR, PRODUCT, VERSION = 0x1A86, 0x7523, 0x0264
CLOCK = 48_000_000

# Control requests, by bmRequestType and bRequest.
READ_VERSION = (0xC0, 0x5F)
READ_REGISTERS = (0xC0, 0x95)
WRITE_REGISTERS = (0x40, 0x9A)
SERIAL_INIT = (0x40, 0xA1)
MODEM_CONTROL = (0x40, 0xA4)
GET_STATUS = (0x80, 0x00)

# Registers. The lowest bit of BREAK is 0 during a break. The modem inputs in MODEM_STATUS are inverted; none is active.
# STATE, which is read together with them, is 0xEE: older versions of ch341.c say "expect 0xff 0xee".
MODEM_STATUS, BREAK, STATE, PRESCALER, DIVISOR, LCR = 0x06, 0x05, 0x07, 0x12, 0x13, 0x18
NO_BREAK = 0x01
DTR, RTS = 0x20, 0x40

LCR_TWO_STOP_BITS, LCR_PARITY, LCR_EVEN, LCR_MARK_SPACE = 0x04, 0x08, 0x10, 0x20


def descriptors():
    device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0110, 0xFF, 0, 0, 8, VENDOR, PRODUCT, VERSION, 0, 2, 0, 1)
    endpoints = bytes([7, 5, 0x82, 2, 32, 0, 0, 7, 5, 0x02, 2, 32, 0, 0, 7, 5, 0x81, 3, 8, 0, 1])
    interface = bytes([9, 4, 0, 0, 3, 0xFF, 1, 2, 0])
    configuration = struct.pack("<BBHBBBBB", 9, 2, 9 + len(interface) + len(endpoints), 1, 1, 0, 0x80, 48)
    product = "USB Serial".encode("utf-16le")
    return {
        (1, 0): device,
        (2, 0): configuration + interface + endpoints,
        (3, 0): bytes([4, 3, 0x09, 0x04]),
        (3, 2): bytes([2 + len(product), 3]) + product,
    }


class CH340(Adapter):
    driver = "usb-redir"

    def __init__(self, machine, port=1, **properties):
        super().__init__(machine, port, **properties)
        # Called when DTR becomes active, before the computer's request is confirmed.
        self.on_dtr_edge = lambda: None
        # How often DTR has become active, and how often a break has begun, since the adapter was created.
        self.dtr_edges = 0
        self.breaks = 0
        # The computer's settings, in order, as pairs: ("dtr", True), ("rts", True), ("baud", 9600), ("line", "8N1"), …
        self.history = []
        self._power_on()

    def __str__(self):
        return f"{super().__str__()}; DTR {self.dtr}, RTS {self.rts}, {self.baud} baud {self.line}, history {self.history[-12:]}"

    def _power_on(self):
        self._registers = {BREAK: NO_BREAK, MODEM_STATUS: 0xFF, STATE: 0xEE}
        self.dtr = self.rts = False

    @property
    def baud(self):
        """The baud rate that results from prescaler and divisor; None until they are set."""
        if DIVISOR not in self._registers:
            return None
        prescaler = self._registers[PRESCALER] & 0x03
        halved = self._registers[PRESCALER] >> 2 & 0x01
        return round(CLOCK / (1 << (12 - 3 * prescaler - halved)) / (0x100 - self._registers[DIVISOR]))

    @property
    def line(self):
        """Data bits, parity and stop bits, e.g. 8N1; None until they are set."""
        if LCR not in self._registers:
            return None
        lcr = self._registers[LCR]
        parity = "N"
        if lcr & LCR_PARITY:
            even = bool(lcr & LCR_EVEN)
            parity = ("S" if even else "M") if lcr & LCR_MARK_SPACE else ("E" if even else "O")
        return f"{5 + (lcr & 3)}{parity}{2 if lcr & LCR_TWO_STOP_BITS else 1}"

    @property
    def is_in_break(self):
        return not self._registers[BREAK] & NO_BREAK

    def _begin(self, connection):
        self._power_on()
        self._device = usbredir.RedirectedDevice(connection, VENDOR, PRODUCT, VERSION, descriptors(), self)

    def _transmit(self, data):
        self._device.send(data)

    def _serve(self):
        self._device.serve()

    def take(self, data):
        self._take(data)

    def control(self, request_type, request, value, index):
        """Carry out a control transfer; return the bytes that the computer reads."""
        transfer = (request_type, request)
        if transfer == READ_VERSION:
            return b"\x31\x00"
        if transfer == READ_REGISTERS:
            return bytes([self._registers.get(value & 0xFF, 0), self._registers.get(value >> 8, 0)])
        if transfer == WRITE_REGISTERS:
            self._write_registers({value & 0xFF: index & 0xFF, value >> 8: index >> 8})
        elif transfer == MODEM_CONTROL:
            # The chip takes the modem lines inverted.
            self._set_modem_lines(~value)
        elif transfer == GET_STATUS:
            return b"\0\0"
        elif transfer != SERIAL_INIT:
            raise usbredir.Stall
        return b""

    def _write_registers(self, values):
        with self.changed:
            was_in_break = self.is_in_break
            self._registers.update(values)
            if DIVISOR in values:
                self.history.append(("baud", self.baud))
            if LCR in values:
                self.history.append(("line", self.line))
            if self.is_in_break != was_in_break:
                self.history.append(("break", self.is_in_break))
                self.breaks += self.is_in_break
            self.changed.notify_all()

    def _set_modem_lines(self, bits):
        dtr, rts = bool(bits & DTR), bool(bits & RTS)
        with self.changed:
            is_edge = dtr and not self.dtr
            if dtr != self.dtr:
                self.history.append(("dtr", dtr))
            if rts != self.rts:
                self.history.append(("rts", rts))
            self.dtr, self.rts = dtr, rts
            self.dtr_edges += is_edge
            self.changed.notify_all()
        if is_edge:
            self.on_dtr_edge()
