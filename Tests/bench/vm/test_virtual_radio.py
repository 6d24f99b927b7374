"""The guest's two virtual adapters, with a central and a peripheral that share no code with pumpctl."""

from bench import PATIENCE
from bluetooth import RadioTest


class Radio(RadioTest):
    def test_a_peripheral_is_driven_by_a_central_at_an_mtu_of_517(self):
        peripheral = self.peripheral("--piece", "512")
        central = self.central()
        self.assertEqual(central.facts["mtu"], 517)
        status = central.ask("STATUS")
        self.assertEqual(status["reply"], ["STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"])
        self.assertEqual(status["pieces"], [len(status["reply"][0]) + 2])
        self.assertEqual(central.reply("SPEED:200"), ["ERROR:PUMP_NOT_RUNNING"])
        self.assertEqual(central.reply("ON"), ["OK", "PUMP:ON"])
        self.assertEqual(central.reply("SPEED:200"), ["OK", "SPEED:200"])
        self.assertRegex(central.reply("STATUS")[0], "State:ON,Speed:78%")
        self.assertEqual(central.reply("OFF"), ["OK", "PUMP:OFF"])
        self.assertEqual(central.close().status, 0)
        self.assertIn("wrote SPEED:200\\n\n", peripheral.output())
        peripheral.until_output("unsubscribed", PATIENCE)

    def test_a_peripheral_disconnects_its_central(self):
        peripheral = self.peripheral()
        central = self.central()
        peripheral.feed("disconnect\n")
        self.assertIn("the link is lost", central.process.wait(PATIENCE).err)
        self.assertTrue(self.central().reply("TEMP"))

    def test_a_peripheral_sends_unsolicited_lines_and_late_replies(self):
        peripheral = self.peripheral("--name", "Other")
        peripheral.feed("greet HELLO:pump\ndelay 0.2\n")
        central = self.central(name="Other")
        self.assertEqual(central.reply("TEMP"), ["HELLO:pump", "TEMP:{Water:12.0C,Skin:34.5C}"])
        peripheral.feed("say MANUAL:ON\n")
        self.assertEqual(central.reply("TEMP"), ["MANUAL:ON", "TEMP:{Water:12.0C,Skin:34.5C}"])
