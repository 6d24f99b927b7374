"""What USB-serial adapters have in common: a plug, and a serial side that a wire or a test takes hold of."""

import socket
import threading

from guest import PATIENCE


class Adapter:
    """An adapter that is in a port of the machine's USB hub, or out of it.

    The serial side is `on_bytes`, called with what the computer sends, and `send`, for the other way.
    """

    # QEMU's name for this kind of device.
    driver = None

    def __init__(self, machine, port=1, **properties):
        """Gets a place ready in the `port`-th USB port; nothing is plugged in yet."""
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
        """Pulls the plug: what was under way is lost."""
        connection, self._connection = self._connection, None
        connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        connection.close()

    @property
    def is_plugged(self):
        return self._connection is not None

    def until(self, condition, seconds=PATIENCE):
        """Waits until something holds for the adapter, as the serial side or the chip sees it."""
        with self.changed:
            assert self.changed.wait_for(condition, seconds), f"not within {seconds} s: {self}"

    def send(self, data):
        """Sends to the computer; into the void while unplugged."""
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
        """The computer has sent something."""
        with self.changed:
            self.received += data
            self.changed.notify_all()
        self.on_bytes(data)

    def _begin(self, connection):
        """The plug is in."""
        self._stream = connection

    def _transmit(self, data):
        raise NotImplementedError

    def _serve(self):
        """Deals with what comes from QEMU until the connection ends."""
        raise NotImplementedError
