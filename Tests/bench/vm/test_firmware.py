"""The Nano's firmware behind each adapter."""

from bench import BenchTest


class Firmware(BenchTest):
    def walk(self, board):
        self.plug(board)
        self.assertEqual(self.pumpctl("on").out, "pump on at 70 % (PWM 180)\n")
        self.assertEqual(board.nano.pump(), (True, 180))
        self.assertEqual(self.pumpctl("speed", "200").out, "speed 200 (78 %)\n")
        self.assertEqual(board.nano.pump(), (True, 200))
        status = self.pumpctl("status").out
        self.assertRegex(status, r"pump +on\nspeed +78 %\n")
        self.assertRegex(status, r"water +12\.\d °C\nskin +34\.\d °C\n")
        self.assertRegex(self.pumpctl("temp").out, r"water +12\.\d °C\nskin +34\.\d °C\n")
        self.assertEqual(self.pumpctl("off").out, "pump off\n")
        self.assertFalse(board.nano.pump()[0])

    def test_it_answers_through_an_ftdi_adapter(self):
        self.walk(self.board(self.ftdi()))

    def test_it_answers_through_a_ch340(self):
        self.walk(self.board(self.ch340()))
