"""pumpctl as a pump's central, and as a simulated pump, on two Bluetooth adapters of one machine that hear each other."""

import signal

from bench import PATIENCE
from bluetooth import RadioTest

PORT = "ble:HMSoft"


class Central(RadioTest):
    """pumpctl drives a pump that shares no code with pumpctl: programs/pump_peripheral.py."""

    def pumpctl(self, *arguments, port=PORT, **expected):
        return super().pumpctl(*arguments, port=port, **expected)


    def test_pumpctl_drives_a_pump_that_replies_in_packets_of_20_bytes(self):
        peripheral = self.peripheral()
        self.assertEqual(self.pumpctl("on").out, "pump on at 70 %\n")
        self.assertEqual(self.pumpctl("speed", "200").out, "speed 200 (78 %)\n")
        self.assertRegex(self.pumpctl("status").out, r"pump +on\nspeed +78 %\n")
        # 'temp' prints the same words as 'status', in other columns.
        status = self.pumpctl("status").out.split()
        self.assertEqual(self.pumpctl("temp").out.split(), status[status.index("water"):])
        self.assertEqual(self.pumpctl("off").out, "pump off\n")
        self.assertIn("PUMP_NOT_RUNNING", self.pumpctl("speed", "200", status=1).err)
        # One write, because a packet at an MTU of 517 has room for the whole line. It begins with a line end, which
        # ends any half line of another program.
        self.assertIn("wrote \\nSPEED:200\\n\n", peripheral.output())

    def test_pumpctl_drives_a_pump_that_replies_in_one_packet(self):
        self.peripheral("--piece", "512")
        self.switch_on_and_off()

    def test_pumpctl_drives_a_pump_that_replies_late(self):
        self.peripheral().feed("delay 0.25\n")
        self.switch_on_and_off()

    def switch_on_and_off(self):
        self.assertEqual(self.pumpctl("on").out, "pump on at 70 %\n")
        self.assertRegex(self.pumpctl("status").out, r"pump +on\nspeed +70 %\n")
        self.assertEqual(self.pumpctl("off").out, "pump off\n")

    def test_a_pump_that_drops_the_link_leaves_the_outcome_unknown(self):
        peripheral = self.peripheral()
        peripheral.feed("delay 60\n")
        command = self.start_pumpctl("on", "--timeout", "60", port=PORT)
        peripheral.until_output("wrote \\nON", PATIENCE)
        peripheral.feed("disconnect\n")
        result = command.wait(PATIENCE)
        self.assertEqual(result.status, 74, result)
        self.assertIn("whether it was carried out is unknown", result.err)

    def test_a_notification_at_the_subscription_is_not_lost(self):
        self.peripheral().feed("greet HELLO:pump\n")
        self.assertIn("HELLO:pump", self.pumpctl("status", "--verbose").err)


class Offered(RadioTest):
    """pumpctl simulates the pump, for a central that shares no code with pumpctl: programs/pump_central.py."""

    def offer(self, *arguments):
        """Start a simulated pump on hci1, and wait until it is offered."""
        # At 716, the knob stands for the speed at which ON starts, 70 %.
        simulator = self.guest.start(
            "pumpctl", "sim", "pump", "--ble", "--adapter", "hci1", "--knob", "716", *arguments)
        simulator.until_output("BLE ", PATIENCE)
        return simulator

    def until_advertisements(self, count):
        """Wait until hci1 has this number of advertisements."""
        self.guest.until(
            "'byte %d' in bluez('/org/bluez/hci1', 'org.freedesktop.DBus.Properties.Get',"
            " 'string:org.bluez.LEAdvertisingManager1', 'string:ActiveInstances')" % count, PATIENCE)

    def test_the_simulated_pump_replies_as_behind_an_hm10(self):
        self.offer()
        central = self.central()
        self.assertEqual(central.facts["mtu"], 517)
        self.assertEqual(central.facts["flags"], ["notify", "read", "write-without-response"])
        status = central.ask("STATUS")
        self.assertRegex(status["reply"][0], r"^STATUS:\{State:OFF,WaterTemp:.*SkinTemp:.*\}$")
        self.assertLessEqual(max(status["pieces"]), 20)
        self.assertEqual(sum(status["pieces"]), len(status["reply"][0]) + 2)
        self.assertEqual(central.reply("SPEED:200"), ["ERROR:PUMP_NOT_RUNNING"])
        self.assertEqual(central.reply("ON"), ["OK", "PUMP:ON"])
        self.assertEqual(central.reply("SPEED:200"), ["OK", "SPEED:200"])
        self.assertIn("State:ON,Speed:78%", central.reply("STATUS")[-1])
        self.assertEqual(central.reply("OFF"), ["OK", "PUMP:OFF"])
        self.assertEqual(central.reply("NONSENSE"), ["ERROR:UNKNOWN_COMMAND"])
        self.assertEqual(central.close().status, 0)

    def test_the_simulated_pump_keeps_its_state_from_one_central_to_the_next(self):
        self.offer()
        central = self.central()
        central.reply("ON")
        self.assertEqual(central.close().status, 0)
        self.assertIn("State:ON", self.central().reply("STATUS")[-1])

    def test_the_simulated_pump_has_the_given_name_and_is_withdrawn_at_a_signal(self):
        simulator = self.offer("--name", "Pump 7")
        self.until_advertisements(1)
        central = self.central(name="Pump 7")
        self.assertEqual(central.reply("OFF"), ["OK", "PUMP:OFF"])
        simulator.send_signal(signal.SIGTERM)
        self.assertEqual(simulator.wait(PATIENCE).status, -signal.SIGTERM)
        self.assertIn("the link is lost", central.process.wait(PATIENCE).err)
        self.until_advertisements(0)

    def test_the_simulated_pump_is_offered_again_when_the_adapter_is_on_again(self):
        simulator = self.offer()
        self.set_powered("hci1", False)
        simulator.until_output("the Bluetooth adapter is off", PATIENCE)
        self.set_powered("hci1", True)
        self.guest.until(f"output_of({simulator.id}).count('BLE HMSoft on hci1') == 2", PATIENCE)
        self.assertEqual(self.central().reply("OFF"), ["OK", "PUMP:OFF"])

    def test_the_simulated_pump_is_offered_again_when_bluetoothd_is_back(self):
        simulator = self.offer()
        self.stop_bluetoothd()
        simulator.until_output("bluetoothd is not running", PATIENCE)
        # From here on bluetoothd has its default settings: three channels per connection.
        self.guest.put("/etc/bluetooth/main.conf", b"")
        self.start_bluetoothd("hci1")
        self.guest.until(f"output_of({simulator.id}).count('BLE HMSoft on hci1') == 2", PATIENCE)
        self.until_powered("hci0")
        self.assertEqual(self.central().reply("OFF"), ["OK", "PUMP:OFF"])
