"""The reset of a board when DTR becomes active. It must not happen while a pump runs, unless it is requested."""

from bench import PATIENCE, BenchTest


class Reset(BenchTest):
    def test_the_pump_runs_on_from_one_command_to_the_next(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.assertEqual(board.adapter.dtr_edges, 0)
        self.pumpctl("on")
        # The first opening after plugging in can't avoid a reset.
        self.assertEqual(board.adapter.dtr_edges, 1)
        self.assertEqual(board.nano.pump(), (True, 180))
        self.pumpctl("speed", "200")
        self.pumpctl("status")
        self.assertEqual(board.adapter.dtr_edges, 1, board.adapter)
        self.assertEqual(board.nano.pump(), (True, 200))

    def test_the_pump_runs_on_after_a_command_that_was_killed(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.pumpctl("on")
        holder = self.start_pumpctl("monitor")
        holder.until_output("70 %", PATIENCE)
        holder.kill()
        self.pumpctl("speed", "200")
        self.assertEqual(board.adapter.dtr_edges, 1, board.adapter)
        self.assertEqual(board.nano.pump(), (True, 200))

    def test_with_hupcl_each_opening_resets_the_board(self):
        board = self.board(self.ch340())
        port = "serial:/dev/ttyUSB0?hupcl=true"
        self.plug(board)
        self.pumpctl("on", port=port)
        board.adapter.until(lambda: not board.adapter.dtr)
        self.assertRegex(self.pumpctl("status", port=port).out, r"pump +off")
        self.assertEqual(board.adapter.dtr_edges, 2)

    def test_reset_in_the_endpoint_resets_the_board_and_waits_for_its_start(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.pumpctl("on")
        self.assertRegex(self.pumpctl("status", port="serial:/dev/ttyUSB0?reset=true").out, r"pump +off")
        self.assertEqual(board.adapter.dtr_edges, 2, board.adapter)

    def test_the_option_reset_resets_the_board(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.pumpctl("on")
        self.assertRegex(self.pumpctl("--reset", "status").out, r"pump +off")
        self.assertEqual(board.adapter.dtr_edges, 2, board.adapter)

    def test_an_echo_of_earlier_output_does_not_spoil_the_first_command(self):
        # Linux echoes input until the port is in raw mode: this part of a line goes back to the device before the first
        # command.
        adapter = self.answering(self.ch340())
        adapter.on_dtr_edge = lambda: adapter.send(b"SPEED:2")
        self.plug(adapter)
        self.pumpctl("status")
        self.assertNotRegex(adapter.received, rb"SPEED:2[A-Z]")
