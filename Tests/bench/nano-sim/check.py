#!/usr/bin/env python3
"""Check nano-sim's guarantees, and the firmware behaviour that only the chip can show.

usage: check.py NANO_SIM FIRMWARE_DIRECTORY

Prints TAP; exits with 1 if a check failed. The machine's speed does not matter: a check controls the time of its board,
or waits for the expected output.
"""

import argparse
import contextlib
import json
import os
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
import tty

# The time limit of a reply in seconds; only a nano-sim that hangs reaches it.
DEADLINE = 300.0


def banner(cause):
    """Return the lines that a board prints at boot. `cause` is None for the field build, which does not print it."""
    told = [f"Reset: {cause}"] if cause else []
    return ["=" * 30, "Device: nano-pump", "Version: 1.1.0", "Baud Rate: 9600", *told, "Ready for commands...", "=" * 30]


class Program:
    """A running nano-sim that takes control lines on stdin and answers on stdout."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = b""

    def answer(self):
        """Wait for the next line on stdout, and return it."""
        # Not read through the file object: several replies may come at once, and select does not see its buffer.
        while b"\n" not in self.answers:
            if not select.select([self.process.stdout], [], [], DEADLINE)[0]:
                raise AssertionError("nano-sim does not answer")
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                raise AssertionError("nano-sim has ended")
            self.answers += data
        answer, self.answers = self.answers.split(b"\n", 1)
        return answer.decode()

    def control(self, command):
        """Send a control command; return the line with which nano-sim replies."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def do(self, command):
        """Run a control command that must succeed; return the text after `ok`."""
        answer = self.control(command)
        assert answer.split(" ")[0] == "ok", f"{command}: {answer}"
        return answer[3:]

    def measure(self, command, wanted):
        """Check that a control command succeeds with this text after `ok`."""
        seen = self.do(command)
        assert seen == wanted, f"{command}: wanted {wanted}, saw {seen}"

    def stop(self):
        """End nano-sim by closing its stdin."""
        self.process.stdin.close()
        try:
            self.process.wait(DEADLINE)
        finally:
            self.process.kill()
        self.process.stdout.close()


class Board(Program):
    """A board whose time the check controls: `nano-sim --stepped`."""

    def __init__(self, program, firmware, *options):
        super().__init__(program, "--stepped", *options, firmware)
        self.now = 0
        self.said = ""

    def run(self, seconds):
        """Run the board for some seconds; return the lines that it completes in them."""
        until = self.now + round(seconds * 1e6)
        while self.now < until:
            time, _, said = self.do(f"run {until - self.now}").split()
            self.now = int(time)
            self.said += bytes.fromhex(said.strip("-")).decode("ascii")
        *lines, self.said = self.said.split("\r\n")
        return lines

    def ask(self, command, seconds=0.5):
        """Send the pump a command; return the lines that the board completes in the next seconds."""
        self.do("send " + (command + "\n").encode("ascii").hex())
        return self.run(seconds)

    def expect(self, command, *replies):
        """Send the pump a command; check that it prints exactly these lines, apart from unsolicited reports."""
        seen = [line for line in self.ask(command) if not line.startswith("STATUS:{State:ON,")]
        assert seen == list(replies), f"{command}: wanted {replies}, saw {seen}"

    def on(self):
        """Switch the pump on, and check the motor's pins."""
        self.expect("ON", "OK", "PUMP:ON")
        self.measure("pwm", "1 180")

    def off(self):
        """Switch the pump off, and check the motor's pins."""
        self.expect("OFF", "OK", "PUMP:OFF")
        self.measure("pwm", "0 0")

    def match(self, command, pattern):
        """Send the pump a command; check that the last line of the reply matches a pattern."""
        seen = self.ask(command)
        assert seen and re.fullmatch(pattern, seen[-1]), f"{command}: wanted {pattern!r}, saw {seen!r}"

    def boots(self, *lines):
        """Check that the board, which was just switched on or reset, prints exactly these lines."""
        seen = self.run(2)
        assert seen == list(lines), f"wanted {lines}, saw {seen}"


class Nano(Program):
    """A board that runs on demand, with one client on its pty."""

    def __init__(self, program, firmware, *options):
        super().__init__(program, "--exit-on-eof", "--on-demand", *options, firmware)
        self.path = self.answer().removeprefix("PTY ")
        self.connect()

    def connect(self):
        self.client = os.open(self.path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.client, termios.TCSANOW)
        self.received = b""

    def disconnect(self):
        os.close(self.client)

    def do_at_once(self, *commands):
        """Send control commands at once, so that no time passes between them; return the text after each `ok`."""
        self.process.stdin.write("".join(command + "\n" for command in commands))
        self.process.stdin.flush()
        answers = [self.answer() for _ in commands]
        for command, answer in zip(commands, answers):
            assert answer.startswith("ok "), f"{command}: {answer}"
        return [answer.removeprefix("ok ") for answer in answers]

    def line(self):
        """Return the next line, without its line end."""
        while b"\n" not in self.received:
            if not select.select([self.client], [], [], DEADLINE)[0]:
                raise AssertionError(f"no line, but {self.received!r}")
            self.received += os.read(self.client, 4096)
        line, self.received = self.received.split(b"\n", 1)
        assert line.endswith(b"\r"), f"no carriage return: {line!r}"
        return line[:-1].decode("ascii")

    def expect(self, *lines):
        """Check that the next lines are exactly these, apart from unsolicited reports of a running pump."""
        for wanted in lines:
            seen = self.line()
            while seen != wanted and seen.startswith("STATUS:{State:ON,"):
                seen = self.line()
            assert seen == wanted, f"wanted {wanted!r}, saw {seen!r}"

    def ask(self, command, *replies):
        """Send the pump a command; check that the reply has exactly these lines."""
        os.write(self.client, command.encode("ascii") + b"\n")
        self.expect(*replies)

    def lines_so_far(self):
        """Return the lines that the board has printed so far.

        Sends TEMP, whose reply is never unsolicited, and returns the lines before that reply.
        """
        os.write(self.client, b"TEMP\n")
        lines = []
        while not (line := self.line()).startswith("TEMP:"):
            lines.append(line)
        return lines

    def stop(self):
        super().stop()
        self.disconnect()


def booted(nano, cause="power-on"):
    """Check that the next lines are the banner."""
    nano.expect(*banner(cause))


def on(nano):
    nano.ask("ON", "OK", "PUMP:ON")


def off(nano):
    nano.ask("OFF", "OK", "PUMP:OFF")


def turn_to(reading):
    """Return the command that turns the knob so that the firmware reads `reading`."""
    return f"turn {reading / 1023}"


# The firmware on the chip. Swift tests on the bench cover its output and behaviour; these checks cover what depends on
# the chip, such as the watchdog.


def the_setup_takes_1300_ms_and_ends_with_the_banner(start):
    for firmware, cause, again in (("nano-pump.elf", "power-on", "external"), ("nano-pump-field.elf", None, None)):
        with start(Board, firmware) as board:
            for cause in (cause, again):
                assert board.run(1.29) == []
                seen = board.run(0.3)
                assert seen == banner(cause), seen
                board.do("reset")


def other_builds_print_other_banners(start):
    for firmware, lines in (
            ("nano-pump-hello.elf", ["HELLO:nano-pump 1.1.0", "Reset: power-on"]), ("nano-pump-quiet.elf", []),
            ("nano-pump-hello-field.elf", ["HELLO:nano-pump 1.1.0"]), ("nano-pump-one-thermistor-quiet.elf", []),
            ("nano-pump-one-thermistor-hello.elf", ["HELLO:nano-pump 1.1.0", "Reset: power-on"])):
        with start(Board, firmware) as board:
            board.boots(*lines)
            board.off()


def firmware_with_one_thermistor_reports_one_temperature(start):
    with start(Board, "nano-pump-one-thermistor.elf", "--skin", "34.5") as board:
        board.boots(*banner("power-on"))
        board.match("STATUS", r"STATUS:\{State:OFF,Temp:34\.[456]C\}")
        board.match("TEMP", r"TEMP:34\.[456]")
        board.on()
        board.do("temperature skin 41")
        seen = board.run(1)
        assert seen == ["ERROR:OVERHEAT", "Skin temperature too high: ?C"], seen
        board.measure("pwm", "0 0")


def a_thermistor_that_fails_stops_the_pump_within_a_second(start):
    faults = {
        "probe skin open": "Skin thermistor open or shorted", "probe skin shorted": "Skin thermistor open or shorted",
        "temperature skin 9": "Skin temperature too low: 9.0C", "temperature skin 41": "Skin temperature too high: ?C",
        "probe water open": "Water thermistor open or shorted", "probe water shorted": "Water thermistor open or shorted"}
    for firmware in ("nano-pump.elf", "nano-pump-old-bootloader.elf"):
        with start(Board, firmware) as board:
            board.run(2)
            for fault, text in faults.items():
                board.on()
                for celsius in (10.5, 39.5, 34):
                    board.do(f"temperature skin {celsius}")
                    board.run(0.6)
                board.measure("pwm", "1 180")
                board.do(fault)
                seen = [line for line in board.run(1) if not line.startswith("STATUS:")]
                assert seen == ["ERROR:OVERHEAT", text], f"{fault}: {seen}"
                board.measure("pwm", "0 0")
                board.expect("ON", "ERROR:PUMP_START_FAILED")
                for mending in ("probe skin sound", "probe water sound", "temperature skin 34"):
                    board.do(mending)
                board.run(1)
                board.off()


def a_fault_at_boot_never_runs_the_motor(start):
    faults = {
        "probe skin open": "Skin thermistor open or shorted", "probe skin shorted": "Skin thermistor open or shorted",
        "temperature skin 5": "Skin temperature too low: 5.0C", "temperature skin 45": "Skin temperature too high: ?C",
        "probe water open": "Water thermistor open or shorted"}
    for fault, text in faults.items():
        with start(Board, "nano-pump.elf") as board:
            board.do(fault)
            board.run(1)
            # The command waits in the UART's buffer until the first turn of the main loop.
            board.do("send " + b"ON\n".hex())
            seen = []
            for _ in range(150):
                seen += board.run(0.01)
                board.measure("pwm", "0 0")
            assert seen == [*banner("power-on"), "ERROR:OVERHEAT", text, "ERROR:PUMP_START_FAILED"], f"{fault}: {seen}"


def a_firmware_that_hangs_is_reset_and_the_pump_stops(start):
    with start(Board, "nano-pump.elf") as board:
        board.run(2)
        board.on()
        board.do("hang")
        board.run(0.4)
        board.measure("pwm", "1 180")
        board.run(0.8)
        board.measure("pwm", "0 0")
        board.boots(*banner("watchdog"))
        board.match("STATUS", r"STATUS:\{State:OFF,.*")
        board.on()


def without_a_watchdog_a_hang_lasts(start):
    for firmware in ("nano-pump-old-bootloader.elf", "nano-pump-field.elf"):
        with start(Board, firmware) as board:
            board.run(2)
            board.on()
            board.do("hang")
            board.run(5)
            board.measure("pwm", "1 180")


def the_banner_names_what_is_known_of_a_reset_if_the_bootloader_clears_its_cause(start):
    with start(Board, "nano-pump.elf", "--optiboot") as board:
        board.boots(*banner("power-on"))
        board.do("reset")
        board.boots(*banner("external, brown-out or power"))
        board.do("hang")
        board.run(1.2)
        board.boots(*banner("watchdog"))
        board.on()
        board.do("reset")
        board.boots(*banner("external, brown-out or power"))


def a_turn_that_prints_many_lines_is_not_reset_by_the_watchdog(start):
    with start(Board, "nano-pump.elf") as board:
        board.run(1.9)
        for turn in range(8):
            # An unsolicited STATUS, two requested ones, and an overheat with its text: in at least one of the eight
            # tries a single turn of the main loop prints all of them.
            board.on()
            board.run(5 * (turn + 1) - 0.05 * turn - board.now / 1e6)
            board.do("temperature skin 41")
            seen = board.ask("STATUS\nSTATUS", 1)
            board.do("temperature skin 34")
            assert "ERROR:OVERHEAT" in seen and not any(line.startswith("Reset:") for line in seen + board.run(1)), seen
            board.off()


# The control commands of nano-sim.


def the_firmware_sees_probes_knob_and_button(start):
    with start(Board, "nano-pump.elf") as board:
        board.run(2)
        board.do("temperature water 5")
        board.do("temperature skin 36.5")
        board.match("TEMP", r"TEMP:\{Water: (4\.9|5\.0|5\.1)C,Skin:36\.[456]C\}")
        for condition, seen in (("open", r"-273\.1"), ("shorted", r"-273\.1"), ("sound", r"36\.[456]")):
            board.do(f"probe skin {condition}")
            board.match("TEMP", r"TEMP:\{.*,Skin:" + seen + r"C\}")
        board.run(1)
        board.on()
        for reading, pwm in ((512, 130), (20, 10), (19, 0), (1023, 255)):
            board.do(turn_to(reading))
            board.run(0.3)
            board.measure("pwm", f"1 {pwm}")
        board.do("press")
        assert "MANUAL:OFF" in board.run(1)
        board.measure("pwm", "0 0")


def the_leds_show_power_and_commands(start):
    with start(Board, "nano-pump-quiet.elf") as board:
        board.run(2)

        def seen():
            """Return the states of the LEDs in the next 0.4 s."""
            shown = []
            for _ in range(20):
                shown.append(board.do("leds"))
                board.run(0.02)
            return shown

        assert seen() == ["1 0"] * 20
        board.do("send " + b"TEMP\n".hex())
        # The firmware lights the LED for 50 ms: for two or three of the looks at it, which are 20 ms apart.
        shown = seen()
        assert set(shown) == {"1 0", "1 1"} and 2 <= shown.count("1 1") <= 3, shown


def a_skip_moves_the_firmwares_clock(start):
    with start(Board, "nano-pump-quiet.elf") as board:
        board.run(2)
        board.on()
        board.do("skip 330")
        board.match("STATUS", r"STATUS:\{State:ON,Speed:70%,Runtime:5m,Remaining:24m,.*")
        board.do("skip 1470")
        seen = board.run(0.5)
        assert seen[-2:] == ["ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded"], seen
        board.measure("pwm", "0 0")


def a_reset_drops_the_input_that_is_in_flight(start):
    with start(Board, "nano-pump.elf") as board:
        board.run(2)
        board.on()
        board.do("send " + b"SPEED:9\n".hex())
        board.do("reset")
        board.measure("pwm", "0 0")
        board.boots(*banner("external"))
        board.expect("FOO", "ERROR:UNKNOWN_COMMAND")


# nano-sim's other guarantees.


def wrong_control_lines_get_an_error(start):
    with start(Nano, "nano-pump.elf") as nano:
        for command in ("frob", "turn 1.01", "turn -0.1", "turn nan", "turn", "turn 0.5 0.5", "temperature skin warm",
                        "temperature air 20", "temperature water 500", "probe skin", "probe skin short", "press hard",
                        "advance -1s", "advance 5 m", "advance 0", "skip -1", "skip x", "pwm 1", "wait nan", "x" * 300):
            answer = nano.control(command)
            assert answer.startswith("error "), f"{command}: {answer}"
        assert nano.do("stats").endswith("dropped 0")


def the_knob_is_turned_to_each_reading(start):
    with start(Nano, "nano-pump.elf") as nano:
        for reading in range(1024):
            nano.do(turn_to(reading))
            assert json.loads(nano.do("state"))["knob"] == reading / 1023, reading


def an_advance_has_the_same_reports_as_the_time_that_it_skips(start):
    with start(Nano, "nano-pump.elf") as nano:
        booted(nano)
        on(nano)
        nano.lines_so_far()
        nano.do("advance 5m")
        # One report per 5 s of the advance: more bytes than a pty holds if no client reads them.
        seen = nano.lines_so_far()
        assert len(seen) in (59, 60) and all(line.startswith("STATUS:{State:ON,") for line in seen), f"{len(seen)} lines"
        assert "Runtime:4m,Remaining:25m" in seen[-2], seen[-2]
        # The last second of an advance is run in full, so a short one takes its whole time.
        begin, _, end = nano.do_at_once("time", "advance 500ms", "time")
        assert 0.5 <= float(end) - float(begin) < 0.6, (begin, end)
        assert nano.do("stats").endswith("dropped 0")


def a_board_starts_within_an_advance(start):
    with start(Nano, "nano-pump.elf") as nano:
        booted(nano)
        nano.do_at_once("reset", "advance 3s")
        booted(nano, "external")


def clients_come_and_go(start):
    with start(Nano, "nano-pump.elf") as nano:
        booted(nano)
        for _ in range(20):
            nano.ask("OFF", "OK", "PUMP:OFF")
            nano.disconnect()
            nano.connect()
        on(nano)


def time_stands_still_on_demand(start):
    with start(Nano, "nano-pump.elf") as nano:
        booted(nano)
        on(nano)
        nano.do("wait 0.5")
        before = nano.do("time")
        assert nano.do("time") == before
        nano.do("wait 4.9")
        assert nano.line().startswith("STATUS:{State:ON,")
        nano.do("reset")
        booted(nano, "external")


# A run may exceed the requested time: a processor that sleeps skips to its next interrupt, some 1,000 µs later, and the
# simulation runs in steps of 100 µs. So the checks below allow less than 1,100 µs.


def stepped(start, *lines):
    """Return the replies of a new stepped board to these control lines."""
    with start(Board, "nano-pump-quiet.elf") as board:
        answers = [board.control(line) for line in lines]
        board.process.stdin.close()
        assert board.process.wait(DEADLINE) == 0
        return answers


def a_stepped_board_runs_only_on_request(start):
    ask = "send " + b"TEMP\n".hex()
    run = "run 400000"
    lines = ["run 2000000", ask, run, run, run, "send " + b"ON\n".hex(), run, run, run, run, run]
    answers = stepped(start, *lines)
    words = [answer.split() for answer in answers]
    assert words[0][0] == "ok" and 0 <= int(words[0][1]) - 2000000 < 1100 and words[0][2:] == ["0", "-"], answers[0]
    assert answers[1] == "ok", answers[1]
    # A run ends early when the board begins a line of output, and when it ends one.
    assert bytes.fromhex(words[2][3]) == b"T" and int(words[2][1]) < 2300000, answers[2]
    assert re.fullmatch(rb"EMP:\{Water:12\.0C,Skin:34\.0C\}\r\n", bytes.fromhex(words[3][3])), answers[3]
    assert words[4][3] == "-" and 0 <= int(words[4][1]) - int(words[3][1]) - 400000 < 1100, answers[4]
    assert b"".join(bytes.fromhex(line[3]) for line in words[6:10]) == b"OK\r\nPUMP:ON\r\n", answers[6:10]
    assert stepped(start, *lines) == answers, "not the same each time"


def verbs_add_no_time_to_a_stepped_board(start):
    run = "run 200000"
    answers = stepped(
        start, "run 2000000", "press", run, run, "advance 1m", "run 1000000", run, run, run, run, "advance 1m", "pwm",
        "run 1", "fly", "run far", "send 4", "send " + "58" * 300)
    assert answers[1] == "ok press", answers[1]
    assert answers[2].split()[2] == "1", "a press is over too soon"
    assert answers[4].startswith("error "), "two verbs at once"
    assert answers[9].split()[2] == "0", "a press does not end"
    assert answers[10:12] == ["ok advance", "ok 1 180"], answers[10:12]
    # During the advance of a minute the board has reported every 5 s.
    assert int(answers[12].split()[1]) - int(answers[9].split()[1]) <= 1100, answers[12]
    assert bytes.fromhex(answers[12].split()[3]).count(b"STATUS:{State:ON,") >= 11, answers[12]
    assert all(answer.startswith("error ") for answer in answers[13:17]) and len(answers) == 17, answers[13:]


def the_link_is_removed_when_the_program_ends(start):
    with tempfile.TemporaryDirectory() as directory:
        link = os.path.join(directory, "nano")
        os.symlink("/nowhere", link)
        with start(Nano, "nano-pump-quiet.elf", "--link", link) as nano:
            assert nano.path == link
            off(nano)
            nano.process.send_signal(signal.SIGTERM)
            assert nano.process.wait(DEADLINE) == 0
        assert os.listdir(directory) == []
        with start(Nano, "nano-pump-quiet.elf", "--link", link) as nano:
            assert nano.do("quit") == "quit"
            assert nano.process.wait(DEADLINE) == 0
        assert os.listdir(directory) == []


def a_link_that_another_program_has_replaced_stays(start):
    with tempfile.TemporaryDirectory() as directory:
        link = os.path.join(directory, "nano")
        with start(Nano, "nano-pump-quiet.elf", "--link", link) as first:
            with start(Nano, "nano-pump-quiet.elf", "--link", link) as second:
                first.do("quit")
                first.process.wait(DEADLINE)
                assert os.path.islink(link)
                off(second)


def exit_on_eof_ends_the_program_with_stdin(start):
    with start(Nano, "nano-pump-quiet.elf") as nano:
        nano.process.stdin.close()
        assert nano.process.wait(DEADLINE) == 0


class Control:
    """A client of the control socket of a running nano-sim."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="ascii")
        hello = self.answer()
        assert hello["event"] == "hello" and hello["version"] == 1 and hello["family"] == "pump", hello

    def send(self, text):
        self.socket.sendall(text.encode())

    def answer(self):
        line = self.lines.readline()
        assert line, "nano-sim has hung up"
        return json.loads(line)

    def has_ended(self):
        """Wait for the next line, or the end of the connection; return whether it is the end."""
        return self.lines.readline() == ""

    def ask(self, verb, *arguments):
        self.send(json.dumps({"id": 1, "do": verb, "arguments": arguments}) + "\n")
        return self.answer()

    def close(self):
        self.lines.close()
        self.socket.close()


@contextlib.contextmanager
def at_socket(start, *options):
    """Start a board with a control socket; yield the board, a client of the socket, and the socket's path."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "control")
        with start(Nano, "nano-pump.elf", "--control", path, *options) as nano, contextlib.closing(Control(path)) as control:
            booted(nano)
            yield nano, control, path


def the_socket_is_private_and_removed_when_the_program_ends(start):
    with at_socket(start) as (nano, control, path):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert control.ask("stop") == {"id": 1, "ok": True}
        assert nano.process.wait(DEADLINE) == 0
        assert control.has_ended() and not os.path.exists(path)


def a_stale_socket_is_replaced_and_nothing_else(start):
    with at_socket(start) as (nano, control, path):
        nano.process.kill()
        nano.process.wait(DEADLINE)
        assert os.path.exists(path)
        with start(Nano, "nano-pump.elf", "--control", path) as second, contextlib.closing(Control(path)) as control:
            # Status 73 (EX_CANTCREAT): the socket can't be created.
            command = [*second.process.args[:1], "--control", path, second.process.args[-1]]
            assert subprocess.run(command, stderr=subprocess.DEVNULL, timeout=DEADLINE).returncode == 73
            assert control.ask("state")["ok"]
        with open(path, "w") as file:
            file.write("mine")
        assert subprocess.run(command, stderr=subprocess.DEVNULL, timeout=DEADLINE).returncode == 73
        assert open(path).read() == "mine"


def requests_of_several_clients_are_handled_one_at_a_time(start):
    with at_socket(start) as (nano, control, path), contextlib.closing(Control(path)) as other:
        press, turn = ('{"id":"%s","do":"%s","arguments":%s}\n' % words for words in (
            ("a", "press", "[]"), ("b", "turn", '["1"]')))
        control.send(press + turn)
        answers = [control.answer(), control.answer()]
        assert [answer["id"] for answer in answers] == ["a", "b"], answers
        assert answers[0]["state"]["knob"] < 1 and answers[1]["state"]["knob"] == 1, answers
        nano.expect("MANUAL:ON")
        # Two clients send two presses each in one write, and stdin sends one. All five must be performed one after the
        # other, because a press during another press would not count.
        for program in (control, other):
            program.send(press * 2)
        nano.do("press")
        for program in (control, control, other, other):
            assert program.answer()["ok"]
        nano.expect("MANUAL:OFF", "MANUAL:ON", "MANUAL:OFF", "MANUAL:ON", "MANUAL:OFF")


def clients_of_the_socket_may_leave_at_any_moment(start):
    with at_socket(start) as (nano, control, path):
        for text in ('{"id":1,"do":"adv', '{"id":1,"do":"advance","arguments":["10m"]}\n', "x" * 20000):
            with contextlib.closing(Control(path)) as other:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    other.send(text)
        with contextlib.closing(Control(path)) as other:
            # A client that has stopped sending still gets its replies.
            other.send('{"id":1,"do":"press"}\n{"id":2,"do":"state"}\n{"id":3')
            other.socket.shutdown(socket.SHUT_WR)
            assert [other.answer()["id"], other.answer()["id"]] == [1, 2] and other.has_ended()
        nano.expect("MANUAL:ON")


def a_client_that_reads_nothing_delays_no_other_client(start):
    with at_socket(start) as (nano, control, path), contextlib.closing(Control(path)) as other:
        other.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                other.send('{"id":1,"do":"state"}\n' * 1000)
        assert control.ask("press")["ok"]
        nano.expect("MANUAL:ON")


CHECKS = [
    the_setup_takes_1300_ms_and_ends_with_the_banner,
    other_builds_print_other_banners,
    firmware_with_one_thermistor_reports_one_temperature,
    a_thermistor_that_fails_stops_the_pump_within_a_second,
    a_fault_at_boot_never_runs_the_motor,
    a_firmware_that_hangs_is_reset_and_the_pump_stops,
    without_a_watchdog_a_hang_lasts,
    the_banner_names_what_is_known_of_a_reset_if_the_bootloader_clears_its_cause,
    a_turn_that_prints_many_lines_is_not_reset_by_the_watchdog,
    the_firmware_sees_probes_knob_and_button,
    the_leds_show_power_and_commands,
    a_skip_moves_the_firmwares_clock,
    a_reset_drops_the_input_that_is_in_flight,
    wrong_control_lines_get_an_error,
    the_knob_is_turned_to_each_reading,
    an_advance_has_the_same_reports_as_the_time_that_it_skips,
    a_board_starts_within_an_advance,
    clients_come_and_go,
    time_stands_still_on_demand,
    a_stepped_board_runs_only_on_request,
    verbs_add_no_time_to_a_stepped_board,
    the_link_is_removed_when_the_program_ends,
    a_link_that_another_program_has_replaced_stays,
    exit_on_eof_ends_the_program_with_stdin,
    the_socket_is_private_and_removed_when_the_program_ends,
    a_stale_socket_is_replaced_and_nothing_else,
    requests_of_several_clients_are_handled_one_at_a_time,
    clients_of_the_socket_may_leave_at_any_moment,
    a_client_that_reads_nothing_delays_no_other_client,
]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("nano_sim")
    arguments.add_argument("firmware_directory")
    options = arguments.parse_args()

    @contextlib.contextmanager
    def start(kind, firmware, *more):
        """Start a program of this class with this firmware, and stop it after the `with` block."""
        nano = kind(options.nano_sim, os.path.join(options.firmware_directory, firmware), *more)
        try:
            yield nano
        finally:
            nano.stop()

    failures = 0
    print(f"1..{len(CHECKS)}")
    for number, check in enumerate(CHECKS, 1):
        name = check.__name__.replace("_", " ")
        try:
            check(start)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as failure:
            failures += 1
            print(f"not ok {number} - {name}\n  {failure}", flush=True)
        else:
            print(f"ok {number} - {name}", flush=True)
    print(f"# {len(CHECKS)} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
