"""Listing and watching ports."""

import itertools
import os

from bench import PATIENCE, BenchTest

# The number of times that the adapter is unplugged. In a soak (SEEDS=7+), as often as a person might do it in a year.
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

    def test_two_adapters_of_one_kind_are_listed_with_their_usb_ports(self):
        self.plug(self.ch340(port=1))
        self.plug(self.ch340(port=2), "/dev/ttyUSB1")
        text = self.listed("--json")
        self.assertIn("usb-0:1:1.0", text)
        self.assertIn("usb-0:2:1.0", text)

    def test_the_only_port_is_used_and_of_two_ports_neither(self):
        self.plug(self.answering(self.ch340(port=1)))
        self.assertEqual(self.guest.run("pumpctl", "status").status, 0)
        self.plug(self.answering(self.ch340(port=2)), "/dev/ttyUSB1")
        result = self.guest.run("pumpctl", "status")
        self.assertEqual(result.status, 64)
        self.assertIn("/dev/ttyUSB1", result.err)

    def test_ports_watch_reports_plugging_and_unplugging(self):
        chip = self.ch340()
        watch = self.guest.start("pumpctl", "ports", "--watch", "--json")
        chip.plug()
        # The ports of the machine itself are reported as attached, too.
        watch.until_output("/dev/ttyUSB0", PATIENCE)
        self.unplug(chip)
        watch.until_output('"detached"', PATIENCE)


class Endurance(BenchTest):
    def cycle(self, process, adapter, is_back):
        """Unplug an adapter and plug it in many times, each time after the previous `is_back`.

        `is_back` is called after each plugging in, with the number of bytes that the adapter had received before. In the
        end, the process must have no more open descriptors than after the first time.
        """
        before = None
        for _ in range(PLUGS):
            self.unplug(adapter)
            received = len(adapter.received)
            self.plug_quickly(adapter)
            is_back(received)
            before = before or len(process.descriptors())
        # While the process searches for the device, it may have more descriptors open for a moment.
        self.guest.until(f"len(os.listdir('/proc/{process.id}/fd')) <= {before}", PATIENCE)

    def plug_quickly(self, adapter):
        """Plug in an adapter, and wait for its node, but not for udev."""
        adapter.plug()
        self.guest.until("os.path.exists('/dev/ttyUSB0')", PATIENCE)

    def monitored(self):
        """Return an adapter, and a monitor that has it open."""
        adapter = self.answering(self.ch340())
        self.plug(adapter)
        process = self.start_pumpctl("monitor")
        process.until_output("34.5", PATIENCE)
        return adapter, process

    def test_monitor_continues_after_many_unpluggings_without_a_leaked_descriptor(self):
        adapter, process = self.monitored()
        # The monitor sends TEMP and then STATUS. If the adapter is unplugged after TEMP, the monitor is still writing;
        # after STATUS, it has sent its last query for now, and rests.
        ends = itertools.cycle([b"STATUS\n", b"TEMP\n"])

        def is_back(received):
            end = next(ends)
            adapter.until(lambda: end in adapter.received[received:], PATIENCE)

        self.cycle(process, adapter, is_back)

    def test_ports_watch_continues_after_many_unpluggings_without_a_leaked_descriptor(self):
        adapter = self.ch340()
        self.plug(adapter)
        process = self.guest.start("pumpctl", "ports", "--watch")
        process.until_output("ttyUSB0", PATIENCE)
        reports = itertools.count(1)

        def is_back(received):
            # The adapter was there at the start, so only later ones are reported in lines that begin with a plus.
            self.guest.until(f"output_of({process.id}).count('\\n+') >= {next(reports)}", PATIENCE)

        self.cycle(process, adapter, is_back)
