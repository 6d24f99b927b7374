"""A storm sensor and an LED board, simulated and driven by pumpctl, on two adapters that hear each other."""

import signal

from bench import PATIENCE
from bluetooth import RadioTest


class FamilyTest(RadioTest):
    """A test with a simulated device of `family` on the second adapter."""

    family = None

    def offer(self, *options):
        simulator = self.guest.start("pumpctl", "sim", self.family, "--ble", "--adapter", "hci1", *options)
        simulator.until_output("BLE ", PATIENCE)
        return simulator


class Storm(FamilyTest):
    family = "storm"

    def pumpctl(self, *arguments, port="ble:storm", **expected):
        return super().pumpctl("--no-record", *arguments, port=port, **expected)

    def log(self, rows):
        """Return the log that the simulated sensor must send, from a simulator inside pumpctl."""
        self.pumpctl("storm", "log", "get", "-o", "/tmp/expected.log", port=f"sim:storm?seed=7&rows={rows}&unpaced")
        return self.guest.get("/tmp/expected.log")

    def test_a_log_arrives_intact(self):
        expected = self.log(20000)
        self.assertGreater(len(expected), 250_000)
        self.offer("--seed", "7", "--rows", "20000", "--interval", "off", "--unpaced")
        # In a slow guest, packets of the log may be more than the default second apart.
        printed = self.pumpctl("storm", "log", "get", "--quiet", "3s", "-o", "/tmp/storm.log")
        self.assertEqual(printed.out, f"{len(expected)} bytes in /tmp/storm.log\n")
        self.assertEqual(self.guest.get("/tmp/storm.log"), expected)

    def test_live_rows_in_the_middle_of_a_log_are_not_in_it(self):
        expected = self.log(5000)
        self.offer("--seed", "7", "--rows", "5000", "--interval", "0.2")
        # Rows that the sensor has measured before the request are at the log's end.
        self.pumpctl("--json", "storm", "log", "get", "--quiet", "3s", "-o", "/tmp/storm.log")
        log = self.guest.get("/tmp/storm.log")
        self.assertEqual(log[:len(expected)], expected)
        self.assertNotIn(b"LIVE", log)

    def test_an_empty_log_prints_nothing(self):
        self.offer("--rows", "0", "--interval", "off")
        self.assertEqual(self.pumpctl("storm", "log", "get").out, "")

    def test_a_log_that_is_cut_off_by_a_lost_link_is_reported_as_incomplete(self):
        self.cut_off(lambda simulator: self.set_powered("hci1", False))

    def test_a_log_that_is_cut_off_by_the_end_of_the_sensor_is_reported_as_incomplete(self):
        self.cut_off(lambda simulator: simulator.send_signal(signal.SIGKILL))

    def cut_off(self, cut):
        """Call `cut` with the simulator while a log is fetched; check that the received part is kept and reported."""
        expected = self.log(100_000)
        simulator = self.offer("--seed", "7", "--rows", "100000", "--interval", "off")
        command = self.start_pumpctl("storm", "log", "get", "-o", "/tmp/storm.log", port="ble:storm")
        self.guest.until("os.path.exists('/tmp/storm.log.partial') and os.path.getsize('/tmp/storm.log.partial') > 20000",
                         PATIENCE)
        cut(simulator)
        result = command.wait(PATIENCE)
        self.assertEqual(result.status, 74, result)
        self.assertIn("the log is incomplete", result.err)
        kept = self.guest.get("/tmp/storm.log.partial")
        self.assertIn(f"{len(kept)} bytes of it are in /tmp/storm.log.partial", result.err)
        self.assertTrue(expected.startswith(kept))
        self.assertEqual(self.guest.run("test", "-e", "/tmp/storm.log").status, 1)

    def test_live_rows_are_printed_without_prefix_from_both_characteristics(self):
        self.offer("--interval", "0.5")
        row = r"(\d+ \d+ \d+ -?\d+\.\d\d\n){3}"
        self.assertRegex(self.pumpctl("storm", "log", "live", "--count", "3").out, rf"\A{row}\Z")
        self.assertRegex(self.pumpctl("storm", "log", "live", "--raw", "--count", "3").out, rf"\A{row}\Z")

    def test_live_rows_continue_when_the_sensor_is_back(self):
        simulator = self.offer("--interval", "0.5")
        command = self.start_pumpctl("storm", "log", "live", port="ble:storm")
        command.until_output("\n", PATIENCE)
        simulator.send_signal(signal.SIGTERM)
        command.until_output("waiting for the device to come back", PATIENCE)
        self.offer("--interval", "0.5")
        command.until_output("is back", 2 * PATIENCE)
        rows = len(command.standard_output().splitlines())
        self.guest.until(f"output_of({command.id}).count(chr(10)) > {rows + 4}", PATIENCE)
        command.send_signal(signal.SIGINT)
        self.assertEqual(command.wait(PATIENCE).status, -signal.SIGINT)


class LED(FamilyTest):
    family = "led"

    def pumpctl(self, *arguments, port="ble:ece196", **expected):
        return super().pumpctl("--no-record", *arguments, port=port, **expected)

    def test_the_led_is_queried_and_switched(self):
        self.offer("--lit")
        self.drive(("get", "on"), ("off", "off"), ("get", "off"), ("toggle", "on"), ("on", "on"), ("get", "on"))

    def test_the_led_is_queried_and_switched_on_a_board_without_notifications(self):
        self.offer("--lit", "--mute")
        self.drive(("get", "on"), ("off", "off"), ("toggle", "on"))

    def drive(self, *commands):
        """Run commands, each over a connection of its own, and check the LED state that each of them prints."""
        for command, value in commands:
            self.assertEqual(self.pumpctl("led", command).out, f"led {value}\n")

    def test_the_lines_for_a_serial_port_can_be_sent_over_ble(self):
        self.offer()
        self.assertEqual(self.pumpctl("--family", "led", "send", "LED").out, "LED:0\n")
        self.assertIn("LED:1\n", self.pumpctl("--family", "led", "send", "LED:1").out)
        self.assertEqual(self.pumpctl("led", "get").out, "led on\n")

    def test_a_board_is_found_by_its_given_name(self):
        self.offer("--name", "Lamp")
        self.assertEqual(self.pumpctl("led", "get", port="ble:Lamp").out, "led off\n")
