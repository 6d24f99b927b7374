"""A Nano on an adapter, as on the board: TX and RX, and DTR on the reset line."""


class Wire:
    def __init__(self, adapter, nano):
        self.adapter = adapter
        self.nano = nano
        adapter.on_bytes = nano.write
        adapter.on_dtr_edge = nano.reset
        nano.on_bytes = adapter.send

    def plug(self):
        """Plugs the board in, which also powers it: the firmware starts."""
        self.nano.reset()
        self.adapter.plug()

    def unplug(self):
        self.adapter.unplug()
