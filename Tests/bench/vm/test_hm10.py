"""The simulated HM-10 itself: the guest's bluetoothd, and a central that shares no code with pumpctl, use it."""

from bench import PATIENCE
from bluetooth import BluetoothTest

STATUS = r"STATUS:\{State:%s.*WaterTemp:12\.0C,SkinTemp:3\d\.\dC\}"


class HM10(BluetoothTest):
    def test_our_firmware_replies_through_the_module_in_pieces_of_20_bytes(self):
        board = self.board(self.hm10())
        board.plug()
        central = self.central()
        self.assertEqual(central.facts["mtu"], 23)
        self.assertEqual(central.facts["flags"], ["notify", "read", "write-without-response"])
        status = central.ask("STATUS")
        self.assertRegex(status["reply"][-1], STATUS % "OFF")
        self.assertGreater(len(status["pieces"]), 2)
        self.assertLessEqual(max(status["pieces"]), 20)
        self.assertRegex(central.reply("TEMP")[-1], r"TEMP:\{Water:12\.0C,Skin:3\d\.\dC\}")
        self.assertEqual(central.reply("ON")[-2:], ["OK", "PUMP:ON"])
        self.assertEqual(board.nano.pump(), (True, 180))
        self.assertEqual(central.reply("SPEED:200")[-1], "SPEED:200")
        self.assertEqual(board.nano.pump(), (True, 200))
        self.assertRegex(central.reply("STATUS")[-1], STATUS % "ON,Speed:78%")
        self.assertEqual(central.reply("SPEED:256")[-1], "ERROR:INVALID_SPEED_VALUE")
        self.assertEqual(central.reply("OFF")[-1], "PUMP:OFF")
        self.assertEqual(board.nano.pump()[0], False)
        self.assertEqual(central.close().status, 0)
        board.adapter.until(lambda: not board.adapter.is_connected, PATIENCE)

    def test_a_line_longer_than_a_packet_is_written_in_several_packets(self):
        module = self.answering(self.hm10())
        module.plug()
        central = self.central()
        central.process.feed("X" * 100 + "\n")
        module.until(lambda: module.received == b"X" * 100 + b"\n", PATIENCE)
        self.assertEqual([len(data) for data in module.writes], [20, 20, 20, 20, 20, 1])

    def test_a_central_can_connect_again_after_a_dropped_link(self):
        module = self.answering(self.hm10())
        module.plug()
        central = self.central()
        self.assertTrue(central.reply("STATUS"))
        module.disconnect()
        self.assertIn("the link is lost", central.process.wait(PATIENCE).err)
        self.assertTrue(self.central().reply("STATUS"))
        self.assertEqual(module.connections, 2)

    def test_a_module_is_found_only_while_it_is_in_range(self):
        module = self.answering(self.hm10())
        central = self.start_program("pump_central.py")
        self.guest.until("'boolean true' in bluez('/org/bluez/hci0', 'org.freedesktop.DBus.Properties.Get',"
                         " 'string:org.bluez.Adapter1', 'string:Discovering')", PATIENCE)
        self.assertEqual(module.connections, 0)
        module.plug()
        central.until_output("connected", PATIENCE)
        module.unplug()
        self.assertIn("the link is lost", central.wait(PATIENCE).err)
        module.plug()
        self.assertTrue(self.central().reply("STATUS"))

    def test_two_modules_do_not_mix_up_their_bytes(self):
        first = self.answering(self.hm10())
        second = self.answering(self.hm10(name="Spare", address="A4:D5:78:0B:11:33"))
        first.plug()
        second.plug()
        centrals = [self.central(), self.central(name="Spare")]
        self.assertRegex(centrals[1].reply("TEMP")[-1], "TEMP")
        self.assertRegex(centrals[0].reply("STATUS")[-1], "STATUS")
        self.assertEqual((first.received, second.received), (b"STATUS\n", b"TEMP\n"))

    def test_a_notification_before_the_subscription_is_confirmed_arrives(self):
        module = self.answering(self.hm10())
        module.greeting = b"HELLO:pump\r\n"
        module.plug()
        self.assertEqual(self.central().reply("TEMP"), ["HELLO:pump", "TEMP:{Water:12.0C,Skin:34.5C}"])
