"""A Nano on an adapter: TX and RX, and DTR on the reset line."""


class Wire:
    def __init__(self, adapter, nano, is_powered_by_usb=True):
        """Connect a board to an adapter; a board with its own supply already runs when it is plugged in."""
        self.adapter = adapter
        self.nano = nano
        self.is_powered_by_usb = is_powered_by_usb
        adapter.on_bytes = nano.write
        adapter.on_dtr_edge = nano.reset
        nano.on_bytes = adapter.send

    def plug(self):
        if self.is_powered_by_usb:
            self.nano.reset()
        else:
            self.nano.until_started()
        self.adapter.plug()

    def unplug(self):
        self.adapter.unplug()
