"""The reset of a board at an edge of DTR: it must not happen while a pump runs."""

from bench import PATIENCE, BenchTest


class Reset(BenchTest):
    def test_the_pump_runs_on_from_one_command_to_the_next(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.assertEqual(board.adapter.dtr_edges, 0)
        self.pumpctl("on")
        # The first open after plugging in can't avoid a reset.
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

    def test_hanging_up_on_close_makes_each_open_a_reset(self):
        board = self.board(self.ch340())
        port = "serial:/dev/ttyUSB0?hupcl=true"
        self.plug(board)
        self.pumpctl("on", port=port)
        board.adapter.until(lambda: not board.adapter.dtr)
        self.assertRegex(self.pumpctl("status", port=port).out, r"pump +off")
        self.assertEqual(board.adapter.dtr_edges, 2)

    def test_a_reset_that_the_endpoint_asks_for_comes_and_is_waited_for(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.pumpctl("on")
        self.assertRegex(self.pumpctl("status", port="serial:/dev/ttyUSB0?reset=true").out, r"pump +off")
        self.assertEqual(board.adapter.dtr_edges, 2, board.adapter)

    def test_a_reset_that_the_command_line_asks_for_comes(self):
        board = self.board(self.ch340())
        self.plug(board)
        self.pumpctl("on")
        self.assertRegex(self.pumpctl("--reset", "status").out, r"pump +off")
        self.assertEqual(board.adapter.dtr_edges, 2, board.adapter)

    def test_what_the_device_said_before_the_first_open_is_not_taken_for_a_command(self):
        # Linux echoes input until the port is in raw mode: half a line goes back before the first command.
        adapter = self.answering(self.ch340())
        adapter.on_dtr_edge = lambda: adapter.send(b"SPEED:2")
        self.plug(adapter)
        self.pumpctl("status")
        self.assertNotRegex(adapter.received, rb"SPEED:2[A-Z]")
