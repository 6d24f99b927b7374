"""Listing and watching ports."""

import itertools
import os

from bench import PATIENCE, BenchTest

# The number of times that the plug is pulled; in a soak (SEEDS=7+), as often as a person might in a year.
PLUGS = 200 if os.environ.get("SEEDS", "").endswith("+") else 30


class Ports(BenchTest):
    def listed(self, *options):
        return self.guest.run("pumpctl", "ports", *options).out

    def test_all_ports_are_listed(self):
        self.plug(self.ftdi(port=1))
        self.plug(self.ch340(port=2), "/dev/ttyUSB1")
        self.assertIn("/dev/ttyUSB0", self.listed())
        self.assertIn("/dev/ttyUSB1", self.listed())

    def test_listing_opens_no_port(self):
        chip = self.ch340()
        self.plug(chip)
        self.listed()
        self.assertEqual(chip.dtr_edges, 0)

    def test_two_adapters_of_one_kind_are_told_apart_by_their_place(self):
        self.plug(self.ch340(port=1))
        self.plug(self.ch340(port=2), "/dev/ttyUSB1")
        text = self.listed("--json")
        self.assertIn("usb-0:1:1.0", text)
        self.assertIn("usb-0:2:1.0", text)

    def test_the_only_port_is_taken_and_of_two_neither(self):
        self.plug(self.answering(self.ch340(port=1)))
        self.assertEqual(self.guest.run("pumpctl", "status").status, 0)
        self.plug(self.answering(self.ch340(port=2)), "/dev/ttyUSB1")
        result = self.guest.run("pumpctl", "status")
        self.assertEqual(result.status, 64)
        self.assertIn("/dev/ttyUSB1", result.err)

    def test_watching_tells_of_each_plug(self):
        chip = self.ch340()
        watch = self.guest.start("pumpctl", "ports", "--watch", "--json")
        chip.plug()
        watch.until_output('"attached"', PATIENCE)
        self.unplug(chip)
        watch.until_output('"detached"', PATIENCE)


class Endurance(BenchTest):
    def cycle(self, process, adapter, is_back):
        """Unplug and plug in many times.

        The process must end up with no more descriptors than after the first time.
        """
        before = None
        for _ in range(PLUGS):
            self.unplug(adapter)
            received = len(adapter.received)
            self.plug_quickly(adapter)
            is_back(received)
            before = before or len(process.descriptors())
        # The search for the device may keep descriptors open for a moment, the first time too.
        self.guest.until(f"len(os.listdir('/proc/{process.id}/fd')) <= {before}", PATIENCE)

    def plug_quickly(self, adapter):
        adapter.plug()
        self.guest.until("os.path.exists('/dev/ttyUSB0')", PATIENCE)

    def monitored(self):
        """Return an adapter, and a monitor that has it open."""
        adapter = self.answering(self.ch340())
        self.plug(adapter)
        process = self.start_pumpctl("monitor")
        process.until_output("34.5", PATIENCE)
        return adapter, process

    def test_monitor_outlives_many_plugs_without_a_leaked_descriptor(self):
        adapter, process = self.monitored()
        # Every other time the plug is pulled while the monitor writes; otherwise the monitor has sent its last query,
        # STATUS, and rests.
        ends = itertools.cycle([b"STATUS\n", b"TEMP\n"])

        def is_back(received):
            end = next(ends)
            adapter.until(lambda: end in adapter.received[received:], PATIENCE)

        self.cycle(process, adapter, is_back)

    def test_watching_outlives_many_plugs_without_a_leaked_descriptor(self):
        adapter = self.ch340()
        self.plug(adapter)
        process = self.guest.start("pumpctl", "ports", "--watch")
        process.until_output("ttyUSB0", PATIENCE)
        self.cycle(process, adapter, lambda received: None)
