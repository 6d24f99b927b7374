"""pumpctl over Bluetooth, on two adapters of one machine that hear each other: as the pump, and as its central."""

import signal

from bench import PATIENCE
from bluetooth import BluetoothTest, VirtualRadio

PORT = "ble:HMSoft"


class VirtualTest(BluetoothTest):
    def setUp(self):
        super().setUp()
        VirtualRadio(self)

    def pumpctl(self, *arguments, port=PORT, **expected):
        return super().pumpctl(*arguments, port=port, **expected)


class Central(VirtualTest):
    """pumpctl drives a pump that is not ours."""

    def test_it_drives_a_pump_that_answers_in_packets_of_20_bytes(self):
        self.drive(self.peripheral())

    def test_it_drives_a_pump_that_answers_in_one_packet(self):
        self.drive(self.peripheral("--piece", "512"))

    def test_it_drives_a_pump_that_answers_late(self):
        peripheral = self.peripheral()
        peripheral.feed("delay 0.25\n")
        self.drive(peripheral)

    def drive(self, peripheral):
        self.assertEqual(self.pumpctl("on").out, "pump on at 70 %\n")
        self.assertEqual(self.pumpctl("speed", "200").out, "speed 200 (78 %)\n")
        self.assertRegex(self.pumpctl("status").out, r"pump +on\nspeed +78 %\n")
        # The same words, in columns of their own.
        status = self.pumpctl("status").out.split()
        self.assertEqual(self.pumpctl("temp").out.split(), status[status.index("water"):])
        self.assertEqual(self.pumpctl("off").out, "pump off\n")
        self.assertIn("PUMP_NOT_RUNNING", self.pumpctl("speed", "200", status=1).err)
        # One write: an MTU of 517 holds the whole line.
        self.assertIn("wrote SPEED:200\\n\n", peripheral.output())

    def test_a_pump_that_drops_the_link_leaves_the_outcome_unknown(self):
        peripheral = self.peripheral()
        peripheral.feed("delay 60\n")
        command = self.start_pumpctl("on", "--timeout", "60", port=PORT)
        peripheral.until_output("wrote ON", PATIENCE)
        peripheral.feed("disconnect\n")
        result = command.wait(PATIENCE)
        self.assertEqual(result.status, 74, result)
        self.assertIn("whether it was carried out is unknown", result.err)

    def test_what_it_says_at_the_subscription_is_not_lost(self):
        self.peripheral().feed("greet HELLO:pump\n")
        self.assertIn("HELLO:pump", self.pumpctl("status", "--verbose").err)


class Peripheral(VirtualTest):
    """pumpctl is the pump."""

    def simulate(self, *options):
        return self.guest.start("pumpctl", "sim", "pump", "--ble", "--adapter", "hci1", "--knob", "716", *options)

    def test_it_is_an_hm10_to_a_central_that_is_not_ours(self):
        self.simulate()
        central = self.central()
        self.assertEqual(central.facts["mtu"], 517)
        self.assertEqual(central.facts["flags"], ["notify", "read", "write-without-response"])
        status = central.ask("STATUS")
        self.assertRegex(status["reply"][-1], r"STATUS:\{State:OFF.*WaterTemp:.*SkinTemp:.*\}")
        self.assertLessEqual(max(status["pieces"]), 20)
        self.assertEqual(central.reply("SPEED:200")[-1], "ERROR:PUMP_NOT_RUNNING")
        self.assertEqual(central.reply("ON")[-1], "PUMP:ON")
        self.assertEqual(central.reply("SPEED:200")[-1], "SPEED:200")
        self.assertIn("State:ON,Speed:78%", central.reply("STATUS")[-1])
        self.assertEqual(central.reply("OFF")[-1], "PUMP:OFF")
        self.assertEqual(central.reply("NONSENSE")[-1], "ERROR:UNKNOWN_COMMAND")
        self.assertEqual(central.close().status, 0)

    def test_it_keeps_its_state_from_one_central_to_the_next(self):
        self.simulate()
        central = self.central()
        central.reply("ON")
        central.close()
        self.assertIn("State:ON", self.central().reply("STATUS")[-1])

    def test_it_goes_by_the_name_that_it_is_given(self):
        self.simulate("--name", "Spare")
        self.assertRegex(self.central(name="Spare").reply("TEMP")[-1], "TEMP:")

    def test_it_advertises_until_it_is_interrupted(self):
        simulator = self.simulate()
        self.until_advertisements(1)
        simulator.send_signal(signal.SIGINT)
        simulator.wait(PATIENCE)
        self.until_advertisements(0)

    def until_advertisements(self, count):
        self.guest.until(
            "'byte %d' in bluez('/org/bluez/hci1', 'org.freedesktop.DBus.Properties.Get',"
            " 'string:org.bluez.LEAdvertisingManager1', 'string:ActiveInstances')" % count, PATIENCE)
