"""QEMU's FT232 adapter. It can be plugged in at any time and has a latency timer; QEMU does not show its modem lines."""

from adapter import Adapter


class FTDI(Adapter):
    driver = "usb-serial"

    def _transmit(self, data):
        self._stream.sendall(data)

    def _serve(self):
        while data := self._stream.recv(4096):
            self._take(data)
