"""`pumpctl sim pump --ble` under the real bluetoothd, by a central that is not pumpctl."""

import signal

from bench import PATIENCE
from bluetooth import BluetoothTest, VirtualRadio


class OfferedPump(BluetoothTest):
    def setUp(self):
        super().setUp()
        VirtualRadio(self)

    def offer(self, *arguments):
        simulator = self.guest.start(
            "pumpctl", "sim", "pump", "--ble", "--adapter", "hci1", "--knob", "716", *arguments)
        simulator.until_output("BLE ", PATIENCE)
        return simulator

    def test_it_answers_as_an_hm10_does(self):
        self.offer()
        central = self.central()
        self.assertEqual(central.facts["flags"], ["notify", "read", "write-without-response"])
        status = central.ask("STATUS")
        self.assertRegex(status["reply"][0], r"^STATUS:\{State:OFF,WaterTemp:.*\}$")
        self.assertLessEqual(max(status["pieces"]), 20)
        self.assertEqual(sum(status["pieces"]), len(status["reply"][0]) + 2)
        self.assertEqual(central.reply("ON"), ["OK", "PUMP:ON"])
        self.assertEqual(central.reply("SPEED:200"), ["OK", "SPEED:200"])
        self.assertEqual(central.reply("OFF"), ["OK", "PUMP:OFF"])
        self.assertEqual(central.close().status, 0)
        self.assertEqual(self.central().reply("OFF"), ["OK", "PUMP:OFF"])

    def test_it_is_withdrawn_at_a_signal(self):
        simulator = self.offer("--name", "Pump 7")
        central = self.central(name="Pump 7")
        self.assertEqual(central.reply("OFF"), ["OK", "PUMP:OFF"])
        simulator.send_signal(signal.SIGTERM)
        self.assertEqual(simulator.wait(PATIENCE).status, 143)
        self.assertIn("the link is lost", central.process.wait(PATIENCE).err)

    def test_it_is_offered_again_when_the_adapter_is_on_again(self):
        simulator = self.offer()
        self.set_powered("hci1", False)
        simulator.until_output("the Bluetooth adapter is off", PATIENCE)
        self.set_powered("hci1", True)
        self.guest.until(f"output_of({simulator.id}).count('BLE HMSoft on hci1') == 2", PATIENCE)
        self.assertEqual(self.central().reply("OFF"), ["OK", "PUMP:OFF"])

    def test_it_is_offered_again_when_bluetoothd_is_back(self):
        simulator = self.offer()
        self.stop_bluetoothd()
        simulator.until_output("bluetoothd is not running", PATIENCE)
        self.start_bluetoothd("hci1")
        self.guest.until(f"output_of({simulator.id}).count('BLE HMSoft on hci1') == 2", PATIENCE)
        self.until_powered("hci0")
        self.assertEqual(self.central().reply("OFF"), ["OK", "PUMP:OFF"])
