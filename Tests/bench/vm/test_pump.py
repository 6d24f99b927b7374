"""The pump from end to end: one suite for the Nano's firmware, by cable and by radio, and for pumpctl's simulated pump.

The whole suite runs on each route to the pump that has a driver of its own, and through pumpctld. One test runs on the
other routes.
"""

import json
import re
import signal

from bench import PATIENCE, BenchTest
from bluetooth import BluetoothTest, RadioTest


class PumpCommands:
    """One test of all commands, for any pump and any route.

    A subclass has a `port`, and `pump()`: whether the pump is on and its PWM, or None if the chip can't be observed.
    """

    def tell(self, *arguments, status=0):
        """Run pumpctl on the pump, and check its exit status."""
        return self.pumpctl(*arguments, port=self.port, status=status)

    def assert_pump(self, is_on, pwm=None):
        """Check the pump at its chip, or else by its own report."""
        seen = self.pump()
        if seen:
            self.assertEqual(seen if is_on else seen[0], (True, pwm) if is_on else False)
            return
        state = self.report()
        self.assertEqual(state["state"], "on" if is_on else "off")
        if is_on:
            self.assertEqual(state["speed_percent"], pwm * 100 // 255)

    def report(self):
        """Return the record that `pumpctl status` prints."""
        return json.loads(self.tell("--json", "status").out)

    def test_each_command_does_what_it_says(self):
        temperatures = r"water +12\.\d °C\nskin +34\.\d °C\n"
        self.assertRegex(self.tell("status").out, r"^pump +off\n" + temperatures)
        self.assertRegex(self.tell("temp").out, "^" + temperatures)
        self.assertEqual(self.tell("on").out, "pump on at 70 %\n")
        self.assert_pump(True, 180)
        self.assertEqual(self.tell("speed", "200").out, "speed 200 (78 %)\n")
        self.assert_pump(True, 200)
        state = self.report()
        self.assertEqual((state["state"], state["speed_percent"]), ("on", 78))
        # Of the 30 minutes, both parts are rounded down.
        self.assertIn(state["runtime_min"] + state["remaining_min"], (29, 30))
        self.assertEqual(self.tell("speed", "50%").out, "speed 128 (50 %)\n")
        self.assertEqual(self.tell("speed", "0").out, "speed 0 (0 %)\n")
        self.assert_pump(True, 0)
        self.assertEqual(self.tell("on", "--speed", "100").out, "pump on at 39 % (PWM 100)\n")
        self.assert_pump(True, 100)
        self.assertEqual(self.tell("off").out, "pump off\n")
        self.assert_pump(False)


class PumpSuite(PumpCommands):
    """The whole behaviour of a pump."""

    # An unsolicited report of a running pump, with each number replaced by 0.
    REPORT = "STATUS:{State:ON,Speed:0%,Runtime:0m,Remaining:0m,WaterTemp:0.0C,SkinTemp:0.0C}"

    def test_a_refusal_is_reported(self):
        self.assertIn("PUMP_NOT_RUNNING", self.tell("speed", "200", status=1).err)
        self.assertIn("a speed must be 0 to 255", self.tell("speed", "256", status=64).err)
        self.assertEqual(self.tell("send", "NONSENSE", status=1).out, "ERROR:UNKNOWN_COMMAND\n")
        # A line that is too long is not tested here: a sleeping pump buffers 63 bytes of one write, and may lose the
        # line's end.
        self.assert_pump(False)

    def test_a_timed_run_ends_with_the_pump_off_even_if_interrupted(self):
        self.assertEqual(self.tell("on", "--for", "1s").out, "pump on at 70 %\npump off\n")
        self.assert_pump(False)
        running = self.start_pumpctl("on", "--for", "10m", port=self.port)
        running.until_output("pump on", PATIENCE)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(PATIENCE).status, -signal.SIGINT)
        self.assert_pump(False)
        # The link is free for the next command.
        self.assertRegex(self.tell("status").out, "^pump +off")

    def test_monitor_and_console_work_on_a_running_pump(self):
        self.tell("on")
        lines = self.tell("monitor", "--no-record", "--json", "--count", "3", "--interval", "1").out.splitlines()
        updates = [json.loads(line) for line in lines]
        # The link may be opened in the middle of a report. The remaining part of that report is shown as text.
        if updates[0]["event"] == "text":
            self.assertIn(re.sub(r"\d+", "0", updates.pop(0)["text"].strip()), self.REPORT)
        told = [(update["event"], update["state"]) for update in updates]
        # Over BLE the link may be lost for a moment. That is reported, and the pump's state is unknown until the link is
        # back.
        self.assertEqual(told, [(event, "unknown" if event == "lost" else "on") for event, _ in told])
        self.assertIn(("status", "on"), told)
        console = self.start_pumpctl("console", port=self.port)
        console.feed("SPEED:100\noff\n", end=True)
        result = console.wait(PATIENCE)
        self.assertEqual(result.status, 0, result)
        # The port may be opened in the middle of a report, and while it opens, the adapter may lose the end of one. So
        # parts of a report may come before the reply.
        before, _, after = result.out.partition("OK\n")
        for piece in re.sub(r"\d+", "0", before).split():
            self.assertIn(piece, self.REPORT)
        said = [line for line in after.splitlines() if not line.startswith("STATUS:{")]
        self.assertEqual(said, ["SPEED:100", "OK", "PUMP:OFF"])
        self.assert_pump(False)


class Cable(BenchTest):
    """A pump by a cable, with an FTDI adapter."""

    port = "/dev/ttyUSB0"

    def setUp(self):
        super().setUp()
        self.wire = self.board(self.adapter())
        self.plug(self.wire)

    def adapter(self):
        return self.ftdi()

    def pump(self):
        return self.wire.nano.pump()


class ByCable(PumpSuite, Cable):
    pass


class BehindCH340(PumpSuite, Cable):
    """An adapter whose DTR resets the board when the port is first opened."""

    def adapter(self):
        return self.ch340()


class Shared(Cable):
    """A cable whose port is held by pumpctld."""

    SHARE = ()

    def setUp(self):
        super().setUp()
        daemon = self.guest.start("pumpctl", "serve", "--port", "/dev/ttyUSB0", *self.SHARE)
        daemon.until_output("the link is open", PATIENCE)


class ByPumpctld(PumpSuite, Shared):
    """pumpctl names the cable's own port, and reaches the pump through pumpctld."""


class BySharedTerminal(PumpCommands, Shared):
    SHARE = ("--pty", "/tmp/pump")
    port = "/tmp/pump"


class BySharedTCP(PumpCommands, Shared):
    SHARE = ("--tcp", "4000")
    port = "tcp:127.0.0.1:4000"

    def setUp(self):
        super().setUp()
        self.guest.run("busybox", "ip", "link", "set", "lo", "up")


class BySharedUnixSocket(PumpCommands, Shared):
    SHARE = ("--unix", "/tmp/pump.socket")
    port = "unix:/tmp/pump.socket"


class BehindHM10(PumpSuite, BluetoothTest):
    """Over BLE, in packets of 20 bytes."""

    port = "ble:HMSoft"

    def setUp(self):
        super().setUp()
        self.wire = self.board(self.hm10())
        self.wire.plug()

    def pump(self):
        return self.wire.nano.pump()


class Simulated(PumpCommands, RadioTest):
    """Over BLE, with pumpctl at both ends. A packet has room for a whole line."""

    port = "ble:HMSoft"

    def setUp(self):
        super().setUp()
        # At 716, the knob stands for the speed at which ON starts, 70 %.
        simulator = self.guest.start("pumpctl", "sim", "pump", "--ble", "--adapter", "hci1", "--knob", "716")
        simulator.until_output("BLE ", PATIENCE)

    def pump(self):
        return None
