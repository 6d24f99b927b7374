"""The serial settings of an endpoint, as the chip receives them."""

import json

from bench import BenchTest


class Lines(BenchTest):
    def setUp(self):
        super().setUp()
        self.chip = self.answering(self.ch340())
        self.plug(self.chip)

    def status(self, query=""):
        self.pumpctl("status", port="serial:/dev/ttyUSB0" + query)

    def test_dtr_and_rts_are_asserted_and_stay_so_after_closing(self):
        self.status()
        self.assertEqual((self.chip.dtr, self.chip.rts), (True, True))

    def test_dtr_and_rts_are_released_where_that_is_asked(self):
        self.status("?dtr=off&rts=off")
        self.assertEqual((self.chip.dtr, self.chip.rts), (False, False))
        lines = [event for event in self.chip.history if event[0] in ("dtr", "rts")]
        # The kernel asserts both at first; this can't be prevented.
        self.assertEqual(lines[-2:], [("dtr", False), ("rts", False)])

    def test_one_line_is_released_alone(self):
        self.status("?rts=off")
        self.assertEqual((self.chip.dtr, self.chip.rts), (True, False))

    def test_hanging_up_on_close_releases_both(self):
        self.status("?hupcl=true")
        self.chip.until(lambda: not self.chip.dtr and not self.chip.rts)

    def test_the_default_is_9600_8n1(self):
        self.status()
        # The nearest rate of the chip's divider.
        self.assertEqual((self.chip.baud, self.chip.line), (9615, "8N1"))

    def test_any_baud_rate_reaches_the_chip(self):
        for baud in (300, 12345, 31250, 57600, 74880, 250_000, 1_000_000, 2_000_000):
            with self.subTest(baud=baud):
                self.status(f"?baud={baud}")
                self.assertAlmostEqual(self.chip.baud / baud, 1, delta=0.01)

    def test_data_bits_parity_and_stop_bits_reach_the_chip(self):
        for query, line in (
            ("bits=7&parity=even&stop=2", "7E2"), ("parity=odd", "8O1"), ("parity=mark", "8M1"), ("parity=space", "8S1"),
            ("bits=5", "5N1"), ("bits=6&parity=even", "6E1"), ("stop=2", "8N2"),
        ):
            with self.subTest(line=line):
                self.status("?" + query)
                self.assertEqual(self.chip.line, line)

    def test_a_break_reaches_the_chip(self):
        # TIOCSBRK and TIOCCBRK, as `SerialPort.setBreak` uses them: a break that lasts until it is ended.
        begin, end = 0x5427, 0x5428
        self.guest.python("import fcntl\nport = os.open('/dev/ttyUSB0', os.O_RDWR | os.O_NOCTTY)")
        self.guest.python(f"fcntl.ioctl(port, {begin})")
        self.chip.until(lambda: self.chip.is_in_break)
        self.guest.python(f"fcntl.ioctl(port, {end})\nos.close(port)")
        self.chip.until(lambda: not self.chip.is_in_break)
        self.assertEqual(self.chip.breaks, 1)

    def test_pumpctl_sends_a_break(self):
        self.pumpctl("send", "--break", "STATUS")
        self.assertEqual((self.chip.breaks, self.chip.is_in_break), (1, False))


class Latency(BenchTest):
    timer = "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer"

    def test_an_ftdi_adapter_hands_over_at_once_where_that_is_asked(self):
        self.plug(self.answering(self.ftdi()))
        # The value of a real adapter in ms; QEMU's begins with 0.
        self.guest.python(f"with open('{self.timer}', 'w') as timer: timer.write('16')")
        self.pumpctl("status")
        self.assertEqual(self.guest.read(self.timer), "16")
        self.pumpctl("status", port="serial:/dev/ttyUSB0?lowlatency=true")
        self.assertEqual(self.guest.read(self.timer), "1")

    def test_a_ch340_that_has_no_such_timer_is_no_error(self):
        self.plug(self.answering(self.ch340()))
        self.pumpctl("status", port="serial:/dev/ttyUSB0?lowlatency=true")

    def test_a_measurement_tells_the_timer_and_adds_up_and_starts_nothing(self):
        board = self.board(self.ftdi())
        self.plug(board)
        for time in 16, 1:
            self.guest.python(f"with open('{self.timer}', 'w') as timer: timer.write('{time}')")
            report = json.loads(self.pumpctl("--json", "latency", "--count", "4").out)
            self.assertEqual((report["carrier"], report["latency_timer_ms"]), ("port", time))
            self.assertEqual(report["answers"] + report["left_out"] + report["refused"] + report["unanswered"], 4, report)
            self.assertGreater(report["answers"], 0, report)
            # Each figure is rounded to a microsecond.
            parts = report["parts"]
            self.assertAlmostEqual(
                sum(part["times_ms"]["mean"] for part in parts), report["round_trip_ms"]["mean"], delta=0.01, msg=parts)
            self.assertAlmostEqual(sum(part["share"] for part in parts), 1, delta=0.01, msg=parts)
        self.assertIn("\nadapter: latency timer 1 ms\n", self.pumpctl("latency", "--count", "1").out)
        # Only queries were sent, and the pump was neither started nor reset. 999 ends any leftover on the line.
        self.assertEqual(set(board.adapter.received.split(b"\n")) - {b"", b"999"}, {b"TEMP"}, board.adapter)
        self.assertEqual((board.nano.pump()[0], board.nano.resets), (False, 0))
