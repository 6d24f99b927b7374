"""The serial settings of an endpoint, as they reach the adapter's chip."""

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

    def test_dtr_and_rts_are_released_on_request(self):
        self.status("?dtr=off&rts=off")
        self.assertEqual((self.chip.dtr, self.chip.rts), (False, False))
        lines = [event for event in self.chip.history if event[0] in ("dtr", "rts")]
        # On opening, the kernel asserts both first, which no program can prevent.
        self.assertEqual(lines[-2:], [("dtr", False), ("rts", False)])

    def test_rts_is_released_without_dtr(self):
        self.status("?rts=off")
        self.assertEqual((self.chip.dtr, self.chip.rts), (True, False))

    def test_hanging_up_on_close_releases_both(self):
        self.status("?hupcl=true")
        self.chip.until(lambda: not self.chip.dtr and not self.chip.rts)

    def test_the_default_is_9600_8n1(self):
        self.status()
        # 9615 is the rate nearest to 9600 that the chip's divider can make.
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
    # The latency timer of the kernel's driver for FTDI adapters, in ms.
    timer = "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer"

    def test_lowlatency_sets_the_timer_of_an_ftdi_adapter_to_1_ms(self):
        self.plug(self.answering(self.ftdi()))
        # 16 ms is the default of a real adapter; that of QEMU's adapter is 0.
        self.guest.python(f"with open('{self.timer}', 'w') as timer: timer.write('16')")
        self.pumpctl("status")
        self.assertEqual(self.guest.read(self.timer), "16")
        self.pumpctl("status", port="serial:/dev/ttyUSB0?lowlatency=true")
        self.assertEqual(self.guest.read(self.timer), "1")

    def test_lowlatency_on_a_ch340_without_a_timer_is_no_error(self):
        self.plug(self.answering(self.ch340()))
        self.pumpctl("status", port="serial:/dev/ttyUSB0?lowlatency=true")

    def test_latency_reports_the_timer_and_consistent_times_and_does_not_start_the_pump(self):
        board = self.board(self.ftdi())
        self.plug(board)
        for time in 16, 1:
            self.guest.python(f"with open('{self.timer}', 'w') as timer: timer.write('{time}')")
            report = json.loads(self.pumpctl("--json", "latency", "--count", "4").out)
            self.assertEqual((report["carrier"], report["latency_timer_ms"]), ("port", time))
            self.assertEqual(report["answers"] + report["left_out"] + report["refused"] + report["unanswered"], 4, report)
            self.assertGreater(report["answers"], 0, report)
            # The sums may differ by 0.01 ms, because each figure is rounded to a microsecond.
            parts = report["parts"]
            self.assertAlmostEqual(
                sum(part["times_ms"]["mean"] for part in parts), report["round_trip_ms"]["mean"], delta=0.01, msg=parts)
            self.assertAlmostEqual(sum(part["share"] for part in parts), 1, delta=0.01, msg=parts)
        self.assertIn("\nadapter: latency timer 1 ms\n", self.pumpctl("latency", "--count", "1").out)
        # Only TEMP was sent, and the pump was neither started nor reset. The line 999 ends any part of a line that another
        # program may have left.
        self.assertEqual(set(board.adapter.received.split(b"\n")) - {b"", b"999"}, {b"TEMP"}, board.adapter)
        self.assertEqual((board.nano.pump()[0], board.nano.resets), (False, 0))
