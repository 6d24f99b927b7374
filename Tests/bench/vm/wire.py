"""The wires between an adapter or an HM-10 and a Nano: TX, RX, and DTR on the Nano's reset line."""


class Wire:
    def __init__(self, adapter, nano, is_powered_by_usb=True):
        """Connect a board to an adapter. A board that is not powered by USB runs before the adapter is plugged in."""
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
