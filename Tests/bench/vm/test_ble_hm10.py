"""pumpctl over Bluetooth, with an HM-10 at an MTU of 23 and the guest's real bluetoothd."""

import json

from bench import PATIENCE
from bluetooth import BluetoothTest

PORT = "ble:HMSoft"
ADDRESS = "A4:D5:78:0B:11:22"
# The value of --timeout: long enough for finding and connecting in a slow guest on a busy machine.
SECONDS = "60"


class BLETest(BluetoothTest):
    """A test whose commands go to the HM-10, unless they name another port."""

    def pumpctl(self, *arguments, port=PORT, **expected):
        return super().pumpctl(*arguments, port=port, **expected)

    def start_pumpctl(self, *arguments, port=PORT):
        return super().start_pumpctl(*arguments, port=port)

    def module(self, **identity):
        """Return an HM-10 in range, whose pump is off and replies at once."""
        module = self.answering(self.hm10(**identity))
        module.plug()
        return module

    def monitored(self):
        """Return an HM-10, and a monitor that has received a status from it."""
        module = self.module()
        process = self.start_pumpctl("monitor")
        process.until_output("34.5", PATIENCE)
        return module, process

    def until_asked_again(self, module, written):
        """Wait until the module has received a STATUS after its first `written` bytes."""
        module.until(lambda: b"STATUS\n" in module.received[written:], PATIENCE)


class Pump(BLETest):
    def test_the_pump_runs_on_from_one_command_to_the_next(self):
        board = self.board(self.hm10())
        board.plug()
        self.assertEqual(self.pumpctl("on").out, "pump on at 70 %\n")
        self.assertEqual(self.pumpctl("speed", "200").out, "speed 200 (78 %)\n")
        self.assertEqual(board.nano.pump(), (True, 200))
        self.assertEqual(board.adapter.connections, 2)

    def test_a_module_is_found_by_its_address_and_by_its_service(self):
        self.module()
        self.pumpctl("status", port=f"ble:{ADDRESS}")
        self.pumpctl("status", port="ble:*")

    def test_a_command_disconnects_from_the_module_at_its_end(self):
        module = self.module()
        self.pumpctl("status")
        module.until(lambda: not module.is_connected, PATIENCE)

    def test_the_longest_line_arrives_whole_in_packets_of_20_bytes(self):
        module = self.module()
        # The test's pump does not reply to this line, so the command ends with a time-out.
        self.pumpctl("send", "X" * 100, status=75)
        self.assertEqual([len(data) for data in module.writes], [20, 20, 20, 20, 20, 1])
        self.assertEqual(module.received, b"X" * 100 + b"\n")

    def test_a_notification_before_the_subscription_is_confirmed_is_not_lost(self):
        module = self.module()
        module.greeting = b"HELLO:pump\r\n"
        self.assertIn("HELLO:pump", self.pumpctl("status", "--verbose").err)

    def test_two_monitors_at_once_follow_one_module_each(self):
        first, second = self.module(), self.module(name="Spare", address="A4:D5:78:0B:11:33")
        # Both scan and connect at the same moment.
        monitors = [self.start_pumpctl("monitor", port=port) for port in ["ble:HMSoft", "ble:Spare"]]
        for monitor in monitors:
            monitor.until_output("34.5", 2 * PATIENCE)
        self.assertTrue(first.is_connected and second.is_connected)
        first.unplug()
        monitors[0].until_output("lost", PATIENCE)
        self.until_asked_again(second, len(second.received))
        self.assertNotIn("lost", monitors[1].output())


class Losing(BLETest):
    """Loss of the link to the module."""

    def test_a_module_that_drops_the_link_at_a_command_leaves_its_outcome_unknown(self):
        module = self.module()
        module.drops_after = 1
        result = self.pumpctl("on", "--timeout", SECONDS, status=74)
        self.assertIn("whether it was carried out is unknown", result.err)

    def test_a_link_that_drops_in_the_middle_of_a_line_fails_the_command(self):
        module = self.module()
        module.drops_after = 3
        self.pumpctl("send", "X" * 100, "--timeout", SECONDS, status=74)
        self.assertEqual(module.received, b"X" * 60)

    def test_a_module_out_of_range_is_not_found(self):
        self.hm10()
        self.assertIn("HMSoft", self.pumpctl("status", "--timeout", "5", status=66).err)

    def test_a_command_connects_again_after_the_module_was_out_of_range(self):
        module = self.module()
        self.pumpctl("status")
        module.unplug()
        self.pumpctl("status", "--timeout", "5", status=66)
        module.plug()
        self.pumpctl("status")

    def test_monitor_continues_when_the_module_is_back_in_range(self):
        module, process = self.monitored()
        module.unplug()
        process.until_output("lost", PATIENCE)
        written = len(module.received)
        module.plug()
        self.until_asked_again(module, written)
        self.assertIsNone(process.ended_within(0))

    def test_monitor_continues_after_the_module_has_dropped_the_link(self):
        module, process = self.monitored()
        written = len(module.received)
        module.disconnect()
        self.until_asked_again(module, written)
        self.assertIsNone(process.ended_within(0))


class Adapter(BLETest):
    """Outages of bluetoothd and of the adapter, and bluetoothctl as another program that uses both."""

    def test_monitor_continues_after_a_restart_of_bluetoothd(self):
        module, process = self.monitored()
        self.stop_bluetoothd()
        process.until_output("lost", PATIENCE)
        written = len(module.received)
        self.start_bluetoothd()
        self.until_asked_again(module, written)

    def test_a_command_says_that_bluetoothd_is_not_running(self):
        self.module()
        self.stop_bluetoothd()
        result = self.guest.run("pumpctl", "--port", PORT, "status", seconds=PATIENCE)
        self.assertNotEqual(result.status, 0)
        self.assertIn("bluetoothd", result.err)
        self.start_bluetoothd()
        self.pumpctl("status")

    def test_monitor_continues_after_the_adapter_was_off(self):
        module, process = self.monitored()
        self.set_powered("hci0", False)
        process.until_output("lost", PATIENCE)
        written = len(module.received)
        self.set_powered("hci0", True)
        self.until_asked_again(module, written)

    def test_a_command_says_that_the_adapter_is_off(self):
        self.module()
        self.set_powered("hci0", False)
        result = self.guest.run("pumpctl", "--port", PORT, "status", seconds=PATIENCE)
        self.assertNotEqual(result.status, 0)
        self.assertRegex(result.err, "hint: .*(power|rfkill)")
        self.set_powered("hci0", True)
        self.pumpctl("status")

    def test_a_command_works_while_bluetoothctl_scans(self):
        self.module()
        bluetoothctl = self.guest.start("bluetoothctl")
        bluetoothctl.feed("scan le\n")
        bluetoothctl.until_output("Discovery started", PATIENCE)
        self.pumpctl("status")
        self.assertIsNone(bluetoothctl.ended_within(0))

    def test_a_module_that_bluetoothctl_has_connected_is_used(self):
        module = self.module()
        bluetoothctl = self.guest.start("bluetoothctl")
        bluetoothctl.feed("scan le\n")
        bluetoothctl.until_output(ADDRESS, PATIENCE)
        bluetoothctl.feed(f"scan off\nconnect {ADDRESS}\n")
        bluetoothctl.until_output("Connection successful", PATIENCE)
        self.pumpctl("status")
        self.assertEqual(module.connections, 1)


class Scan(BLETest):
    def found(self):
        """Run a scan; return the devices that it prints, by address."""
        result = self.guest.run("pumpctl", "scan", "--json", seconds=PATIENCE)
        self.assertEqual(result.status, 0, result)
        devices = [json.loads(line) for line in result.out.splitlines()]
        return {device["address"]: device for device in devices if "address" in device}

    def test_scan_lists_the_modules_in_range(self):
        self.module()
        spare = self.module(name="Spare", address="A4:D5:78:0B:11:33")
        found = self.found()
        self.assertEqual({address: device["name"] for address, device in found.items()},
                         {ADDRESS: "HMSoft", spare.address: "Spare"})
        # Other devices than a pump may be behind an HM-10, which offers the same service for all of them.
        self.assertEqual((found[ADDRESS]["family"], found[ADDRESS]["possible_family"]), (None, "pump"))

    def test_scan_lists_nothing_if_no_module_is_in_range(self):
        self.hm10()
        self.assertEqual(self.found(), {})

    def test_scan_watch_reports_a_module_that_comes_into_range(self):
        module = self.answering(self.hm10())
        watch = self.guest.start("pumpctl", "scan", "--watch", "--json")
        module.plug()
        watch.until_output(ADDRESS, PATIENCE)
