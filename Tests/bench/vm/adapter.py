"""USB-serial adapters that can be plugged into the guest, with a serial side for a simulated board or a test."""

import socket
import threading

from guest import PATIENCE


class Adapter:
    """An adapter for a port of the machine's USB hub, plugged in or not.

    "Computer" means the guest. The serial side is `on_bytes`, which is called on the adapter's own thread with bytes
    from the computer, and `send`, for bytes to the computer.
    """

    # The name of QEMU's driver for this kind of device.
    driver = None

    def __init__(self, machine, port=1, **properties):
        """Reserve the USB port of this number; nothing is plugged in yet."""
        self.on_bytes = lambda data: None
        # The bytes received from the computer, and the bytes sent to it.
        self.received = b""
        self.sent = b""
        self.changed = threading.Condition()
        self._connection = None
        self._thread = None
        name = f"adapter{port}"
        self._path = machine.add_socket(name)
        machine.ask("device_add", driver=self.driver, id=f"usb{port}", chardev=name, bus="usb.0", port=str(port),
                    **properties)

    def __str__(self):
        return f"{type(self).__name__}, sent to the device {self.received[-300:]}, to the computer {self.sent[-300:]}"

    def plug(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._path)
        self._begin(connection)
        self._connection = connection
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def unplug(self):
        """Unplug the adapter; bytes in transit are lost."""
        connection, self._connection = self._connection, None
        connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        connection.close()

    @property
    def is_plugged(self):
        return self._connection is not None

    def until(self, condition, seconds=PATIENCE):
        """Wait until a condition on the adapter's bytes or chip holds. It is checked after each change."""
        with self.changed:
            assert self.changed.wait_for(condition, seconds), f"not within {seconds} s: {self}"

    def send(self, data):
        """Send bytes to the computer; drop them while the adapter is unplugged."""
        if self._connection:
            self.sent += data
            try:
                self._transmit(data)
            except OSError:
                # The adapter was unplugged during the transmission.
                pass

    def _run(self):
        try:
            self._serve()
        except (OSError, EOFError):
            # The adapter was unplugged.
            pass

    def _take(self, data):
        """Handle bytes from the computer."""
        with self.changed:
            self.received += data
            self.changed.notify_all()
        self.on_bytes(data)

    def _begin(self, connection):
        """Take over the connection to QEMU when the adapter is plugged in."""
        self._stream = connection

    def _transmit(self, data):
        raise NotImplementedError

    def _serve(self):
        """Handle data from QEMU until the connection ends."""
        raise NotImplementedError
