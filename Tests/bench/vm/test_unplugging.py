"""Unplugging, during a command and while a program holds the port open."""

from bench import PATIENCE, BenchTest


class Unplugging(BenchTest):
    def half_a_reply(self, adapter):
        """Unplug `adapter` while pumpctl waits for the end of a reply; check that the outcome is unknown."""
        # The first opening of a port is special, because it may reset a board. So it is done before the command below.
        self.plug(self.answering(adapter))
        whole_command = self.pumpctl("status")
        adapter.on_bytes = lambda data: adapter.send(b"OK\r\nPUM")
        command = self.start_pumpctl("on", "--verbose", "--timeout", "60")
        command.until_output("OK", PATIENCE)
        before = command.cpu()
        self.unplug(adapter)
        result = command.wait(PATIENCE)
        self.assertEqual(result.status, 74, result)
        self.assertIn("whether it was carried out is unknown", result.err)
        # A loop that spins after the unplugging would take more processor time than a whole command, on any machine.
        self.assertLess(result.cpu - before, whole_command.cpu)

    def test_unplugging_an_ftdi_adapter_within_a_reply_leaves_the_outcome_unknown(self):
        self.half_a_reply(self.ftdi())

    def test_unplugging_a_ch340_within_a_reply_leaves_the_outcome_unknown(self):
        self.half_a_reply(self.ch340())

    def test_json_states_that_the_outcome_is_unknown(self):
        adapter = self.answering(self.ch340())
        self.plug(adapter)
        self.pumpctl("status")
        adapter.on_bytes = lambda data: None
        command = self.start_pumpctl("on", "--json", "--timeout", "60")
        adapter.until(lambda: b"ON\n" in adapter.received, PATIENCE)
        self.unplug(adapter)
        result = command.wait(PATIENCE)
        self.assertEqual(result.status, 74, result)
        self.assertRegex(result.out + result.err, r'"outcome" ?: ?"unknown"')


class Holding(BenchTest):
    """Programs that have the port open for long: monitor and console."""

    def holder(self, command, adapter):
        """Start a pumpctl that has the port open and has received a status; return it."""
        self.plug(self.answering(adapter))
        process = self.start_pumpctl(command)
        if command == "console":
            process.feed("STATUS\n")
        process.until_output("34.5", PATIENCE)
        return process

    def returns_under_its_name(self, command, adapter):
        """Unplug an adapter that a pumpctl has open, and plug it in; check that it gets the same name again.

        Return the pumpctl.
        """
        process = self.holder(command, adapter)
        self.unplug(adapter)
        self.guest.until(f"not any('ttyUSB' in d for d in descriptors_of({process.id}))", PATIENCE)
        self.plug(adapter)
        self.assertEqual(
            self.guest.python("import glob\nresult = glob.glob('/dev/ttyUSB*')"), ["/dev/ttyUSB0"])
        return process

    def test_monitor_closes_an_unplugged_ftdi_port_so_that_its_name_is_free(self):
        self.returns_under_its_name("monitor", self.ftdi())

    def test_monitor_closes_an_unplugged_ch340_port_so_that_its_name_is_free(self):
        self.returns_under_its_name("monitor", self.ch340())

    def test_console_closes_an_unplugged_port_so_that_its_name_is_free(self):
        self.returns_under_its_name("console", self.ch340())

    def test_monitor_continues_when_the_device_is_back(self):
        adapter = self.ch340()
        process = self.returns_under_its_name("monitor", adapter)
        received = len(adapter.received)
        adapter.until(lambda: b"STATUS\n" in adapter.received[received:], PATIENCE)
        self.assertIsNone(process.ended_within(0))

    def test_an_unplugged_device_costs_no_processor_time(self):
        adapter = self.ch340()
        process = self.holder("monitor", adapter)
        self.unplug(adapter)
        process.until_output("lost", PATIENCE)
        # The monitor first searches for the device, then rests. So one second in which it hardly runs is enough: a loop
        # that spins never has such a second.
        for _ in range(PATIENCE):
            cpu, wakeups, begun = process.cpu(), process.wakeups(), self.guest.python("result = time.monotonic()")
            self.guest.until(f"time.monotonic() > {begun} + 1")
            cpu, wakeups = process.cpu() - cpu, process.wakeups() - wakeups
            if cpu < 0.1 and wakeups < 20:
                return
        self.fail(f"{cpu} s of processor time and {wakeups} wake-ups in a second")


class Renaming(BenchTest):
    """A device that comes back under another name, because something else holds the old one."""

    def hold(self):
        """Open the port in the guest's agent, so that its name is not free when it is unplugged."""
        self.guest.python("port = os.open('/dev/ttyUSB0', os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)")

    def test_a_device_works_under_its_new_name(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.hold()
        self.unplug(board)
        self.plug(board, "/dev/ttyUSB1")
        self.pumpctl("on", port="/dev/ttyUSB1")
        self.assertEqual(board.nano.pump(), (True, 180))

    def test_monitor_finds_a_renamed_device_by_its_identity(self):
        adapter = self.answering(self.ch340())
        self.plug(adapter)
        # Only root may open a port in exclusive use, as `hold` does; the monitor's lock does not prevent that.
        process = self.start_pumpctl("monitor")
        process.until_output("34.5", PATIENCE)
        self.hold()
        self.unplug(adapter)
        received = len(adapter.received)
        self.plug(adapter, "/dev/ttyUSB1")
        adapter.until(lambda: b"STATUS\n" in adapter.received[received:], PATIENCE)
