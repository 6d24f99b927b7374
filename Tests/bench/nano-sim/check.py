#!/usr/bin/env python3
"""Walks the pump's firmware through its protocol on the simulated Nano, and nano-sim through its own promises.

usage: check.py [--paced] NANO_SIM FIRMWARE_DIRECTORY

Prints TAP; ends with 1 if anything failed. It waits for what it expects, at most 30 s of real time, and measures
only simulated time, so that the machine's speed does not matter. With --paced it runs in real time.
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
import time
import tty

DEADLINE = 30.0


def banner(cause):
    """What is said at the start; a firmware that does as the devices in the field does not tell the cause."""
    told = [f"Reset: {cause}"] if cause else []
    return ["=" * 30, "Device: nano-pump", "Version: 1.1.0", "Baud Rate: 9600", *told, "Ready for commands...", "=" * 30]


class Nano:
    """A running nano-sim, and one client on its pty."""

    def __init__(self, program, firmware, *options):
        self.is_field = "-field" in os.path.basename(firmware)
        self.has_water = "-one-thermistor" not in os.path.basename(firmware)
        self.process = subprocess.Popen(
            [program, "--exit-on-eof", *options, firmware], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = b""
        self.path = self.answer().removeprefix("PTY ")
        self.client = None
        self.connect()

    def connect(self):
        self.client = os.open(self.path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.client, termios.TCSANOW)
        self.received = b""

    def disconnect(self):
        os.close(self.client)

    def answer(self):
        # Several answers may come at once: what a file object keeps of them, select would not see.
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
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def do(self, command):
        """A control command that must succeed; returns what follows `ok`."""
        answer = self.control(command)
        assert answer.startswith("ok "), f"{command}: {answer}"
        return answer.removeprefix("ok ")

    def do_at_once(self, *commands):
        """Control commands with no time between them, but for what they take; returns what follows each `ok`."""
        self.process.stdin.write("".join(command + "\n" for command in commands))
        self.process.stdin.flush()
        answers = [self.answer() for _ in commands]
        for command, answer in zip(commands, answers):
            assert answer.startswith("ok "), f"{command}: {answer}"
        return [answer.removeprefix("ok ") for answer in answers]

    def run_until(self, seconds):
        """Lets simulated time pass; it stands still before and after, if the line has been quiet for half a second."""
        self.do(f"wait {seconds - float(self.do('time'))}")

    def measure(self, command, wanted):
        seen = self.do(command)
        assert seen == wanted, f"{command}: wanted {wanted}, saw {seen}"

    def write(self, data):
        os.write(self.client, data)

    def line(self, seconds=DEADLINE):
        """The next line, without its end; None if none comes in time."""
        until = time.monotonic() + seconds
        while b"\n" not in self.received:
            if not select.select([self.client], [], [], max(0, until - time.monotonic()))[0]:
                return None
            self.received += os.read(self.client, 4096)
        line, self.received = self.received.split(b"\n", 1)
        assert line.endswith(b"\r"), f"no carriage return: {line!r}"
        return line[:-1].decode("ascii")

    def lines_so_far(self):
        """What has come by now."""
        lines = []
        while (line := self.line(0)) is not None:
            lines.append(line)
        return lines

    def expect(self, *lines):
        """These lines and no others, apart from unasked STATUS lines of a running pump."""
        for wanted in lines:
            seen = self.line()
            while seen is not None and seen != wanted and seen.startswith("STATUS:{State:ON,"):
                seen = self.line()
            assert seen == wanted, f"wanted {wanted!r}, saw {seen!r}"

    def ask(self, command, *replies):
        data = command.encode("ascii") + b"\n"
        while len(data) > 50:
            # No more at once than the UART keeps while the firmware sleeps.
            self.write(data[:40])
            data = data[40:]
            self.do("wait 0.3")
        self.write(data)
        self.expect(*replies)

    def status(self, pattern):
        """Asks for STATUS; TEMP behind it tells the reply from unasked lines that come before or after."""
        self.write(b"STATUS\n")
        seen = self.lines_before_temperature()
        assert seen and re.fullmatch(pattern, seen[-1]), f"wanted {pattern!r}, saw {seen!r}"

    def lines_before_temperature(self):
        """Asks for the temperatures, and returns all lines up to the reply."""
        self.write(b"TEMP\n")
        lines = []
        while (line := self.line()) is not None and not line.startswith("TEMP:"):
            lines.append(line)
        return lines

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(DEADLINE)
        self.process.stdin.close()
        self.process.stdout.close()
        self.disconnect()


def booted(nano, cause="power-on"):
    nano.expect(*banner(None if nano.is_field else cause))


def on(nano):
    nano.ask("ON", "OK", "PUMP:ON")


def off(nano, *before):
    nano.ask("OFF", *before, "OK", "PUMP:OFF")


def expect_silence(nano):
    """Nothing has come since the last line that was read."""
    seen = nano.lines_so_far()
    assert seen == [], f"wanted nothing, saw {seen!r}"


def wait_for_pwm(nano, wanted):
    """Turns of the main loop, in simulated time, until the pump is driven so."""
    for _ in range(10):
        seen = nano.do("pwm")
        if seen == wanted:
            return
        nano.do("wait 0.1")
    raise AssertionError(f"wanted pwm {wanted}, saw {seen}")


# The thermistors as they are at the start.
MENDING = ("probe skin sound", "probe water sound", "temperature skin 34", "temperature water 12")


def turn_to(reading):
    """What turns the knob to where the firmware reads so."""
    return f"turn {reading / 1023}"


# The firmware with two thermistors and the default banner. Each check starts from a reset board at 12 and 34 C.


def the_banner_ends_a_setup_of_1300_ms(nano):
    booted(nano)
    before = nano.do("stats")
    answers = nano.do_at_once("reset", "wait 1.25", "stats", "wait 0.4")
    assert answers[2] == before, answers
    seen = nano.lines_so_far()
    assert seen == banner(None if nano.is_field else "external"), seen


def on_starts_at_seventy_percent(nano):
    booted(nano)
    nano.measure("pwm", "0 0")
    on(nano)
    nano.measure("pwm", "1 180")
    nano.status(r"STATUS:\{State:ON,Speed:70%,Runtime:0m,Remaining:29m,WaterTemp:1[12]\.\dC,SkinTemp:3[34]\.\dC\}")


def off_always_works(nano):
    booted(nano)
    off(nano)
    on(nano)
    off(nano)
    nano.measure("pwm", "0 0")
    nano.status(r"STATUS:\{State:OFF,WaterTemp:1[12]\.\dC,SkinTemp:3[34]\.\dC\}")


def speed_sets_the_pwm(nano):
    booted(nano)
    on(nano)
    for pwm in (200, 0, 1, 254, 255):
        nano.ask(f"SPEED:{pwm}", "OK", f"SPEED:{pwm}")
        nano.measure("pwm", f"1 {pwm}")
    nano.ask("SPEED:200", "OK", "SPEED:200")
    nano.status(r"STATUS:\{State:ON,Speed:78%,.*")
    nano.ask("SPEED:0", "OK", "SPEED:0")
    nano.status(r"STATUS:\{State:ON,Speed:0%,.*")
    on(nano)
    nano.measure("pwm", "1 180")


def speed_is_read_as_atoi_does(nano):
    booted(nano)
    on(nano)
    nano.ask("SPEED:7x", "OK", "SPEED:7")
    nano.ask("SPEED:abc", "OK", "SPEED:0")
    nano.ask("SPEED:", "OK", "SPEED:0")


def a_wrong_speed_is_refused(nano):
    booted(nano)
    nano.ask("SPEED:100", "ERROR:PUMP_NOT_RUNNING")
    nano.ask("SPEED:999", "ERROR:INVALID_SPEED_VALUE")
    on(nano)
    for speed in ("256", "-1", "65536", "99999999999"):
        nano.ask(f"SPEED:{speed}", "ERROR:INVALID_SPEED_VALUE")
    nano.measure("pwm", "1 180")


def commands_are_exact_but_for_case(nano):
    booted(nano)
    nano.ask("on", "OK", "PUMP:ON")
    nano.ask("sPeEd:9", "OK", "SPEED:9")
    nano.ask("Off", "OK", "PUMP:OFF")
    for command in ("FROB", " ON", "ON ", "SPEED", "AT"):
        nano.ask(command, "ERROR:UNKNOWN_COMMAND")
    nano.measure("pwm", "0 0")


def a_command_ends_at_its_first_nul(nano):
    booted(nano)
    nano.write(b"ON\0junk\n")
    nano.expect("OK", "PUMP:ON")
    nano.write(b"\0OFF\n")
    nano.expect("ERROR:UNKNOWN_COMMAND")
    nano.measure("pwm", "1 180")


def either_line_end_ends_a_command(nano):
    booted(nano)
    nano.write(b"\n\r\r\nON\r\n")
    nano.expect("OK", "PUMP:ON")
    nano.write(b"OFF\r")
    nano.expect("OK", "PUMP:OFF")
    nano.do("wait 1")
    expect_silence(nano)


def sixty_three_bytes_are_a_command(nano):
    booted(nano)
    nano.ask("X" * 63, "ERROR:UNKNOWN_COMMAND")
    nano.ask("X" * 64, "ERROR:CMD_TOO_LONG")
    nano.do("wait 1")
    expect_silence(nano)


def seventy_bytes_are_an_overflow_before_a_command(nano):
    booted(nano)
    nano.ask("X" * 70, "ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND")
    nano.ask("X" * 64 + "ON", "ERROR:CMD_TOO_LONG", "OK", "PUMP:ON")


def commands_wait_for_their_turn(nano):
    booted(nano)
    nano.write(b"ON\nSPEED:50\nOFF\nFROB\n")
    nano.expect("OK", "PUMP:ON", "OK", "SPEED:50", "OK", "PUMP:OFF", "ERROR:UNKNOWN_COMMAND")


def temp_tells_both_temperatures(nano):
    booted(nano)
    nano.do("temperature water 5")
    nano.do("temperature skin 36.5")
    nano.write(b"TEMP\n")
    seen = nano.line()
    assert re.fullmatch(r"TEMP:\{Water: (4\.9|5\.0|5\.1)C,Skin:36\.[456]C\}", seen), seen


def a_broken_thermistor_is_shown(nano):
    booted(nano)
    for condition in ("open", "shorted"):
        nano.do(f"probe skin {condition}")
        nano.ask("TEMP", "TEMP:{Water:12.0C,Skin:-273.1C}")


def in_the_field_a_broken_thermistor_stops_nothing(nano):
    booted(nano)
    on(nano)
    for fault in ("probe skin open", "probe skin shorted", "temperature skin 5", "probe water open"):
        nano.do(fault)
        nano.do("wait 1")
    nano.measure("pwm", "1 180")


def a_thermistor_that_fails_stops_the_pump_within_a_second(nano):
    booted(nano)
    faults = [
        ("probe skin open", "Skin thermistor open or shorted"),
        ("probe skin shorted", "Skin thermistor open or shorted"),
        ("temperature skin 9", "Skin temperature too low: 9.0C"),
        ("temperature skin -40", "Skin temperature too low: -40.5C"),
        ("temperature skin 41", "Skin temperature too high: ?C"),
        ("temperature skin 150", "Skin temperature too high: ?C")]
    if nano.has_water:
        faults += [(f"probe water {condition}", "Water thermistor open or shorted") for condition in ("open", "shorted")]
    for fault, text in faults:
        on(nano)
        nano.do("wait 1")
        nano.measure("pwm", "1 180")
        nano.lines_so_far()
        nano.do_at_once(fault, "wait 1")
        nano.measure("pwm", "0 0")
        nano.expect("ERROR:OVERHEAT", text)
        nano.ask("ON", "ERROR:PUMP_START_FAILED")
        nano.do_at_once(*MENDING)
        nano.status(r"STATUS:\{State:ERROR,.*")
        off(nano)


def a_thermistor_that_drifts_stops_the_pump_where_skin_ends(nano):
    booted(nano)
    for begin, end, step in ((34, 8, -0.5), (34, 42, 0.5)):
        nano.do("temperature skin 34")
        off(nano)
        on(nano)
        celsius = begin
        while nano.do("pwm") == "1 180":
            assert celsius != end, "the pump runs on"
            celsius += step
            nano.do(f"temperature skin {celsius}")
            nano.do("wait 0.5")
        # It has stopped within a second behind the limit, two of these steps.
        assert 9 <= celsius <= 10 or 40 <= celsius <= 41, celsius
        nano.lines_so_far()


def a_fault_stops_the_pump_also_while_commands_keep_it_busy(nano):
    booted(nano)
    on(nano)
    nano.do("probe skin open")
    for _ in range(10):
        nano.write(b"STATUS\n")
        nano.do("wait 0.1")
    nano.measure("pwm", "0 0")
    assert "ERROR:OVERHEAT" in nano.lines_so_far()


def with_a_fault_the_pump_does_not_start(nano):
    booted(nano)
    nano.do("probe skin open")
    nano.do("wait 1")
    nano.write(b"ON\n")
    nano.do("wait 0.5")
    seen = nano.lines_so_far()
    assert seen == ["ERROR:OVERHEAT", "Skin thermistor open or shorted", "ERROR:PUMP_START_FAILED"], seen
    nano.measure("pwm", "0 0")
    nano.do("probe skin sound")
    off(nano)
    on(nano)


def a_reading_that_jumps_for_a_moment_stops_nothing(nano):
    booted(nano)
    on(nano)
    for fault in ("probe skin open", "temperature skin 150", "probe water shorted"):
        nano.do_at_once(fault, "wait 0.11", *MENDING, "wait 1")
        nano.measure("pwm", "1 180")


def a_loose_contact_stops_the_pump(nano):
    booted(nano)
    on(nano)
    for _ in range(10):
        nano.do("probe skin open")
        nano.do("wait 0.11")
        nano.do("probe skin sound")
        nano.do("wait 0.11")
    nano.measure("pwm", "0 0")


def a_firmware_that_hangs_is_reset_and_the_pump_stops(nano):
    booted(nano)
    on(nano)
    nano.do("wait 1")
    nano.do_at_once("hang", "wait 0.5")
    nano.measure("pwm", "1 180")
    nano.do("wait 0.7")
    nano.measure("pwm", "0 0")
    nano.do("wait 2")
    booted(nano, "watchdog")
    nano.status(r"STATUS:\{State:OFF,.*")
    on(nano)


def long_lines_do_not_wake_the_watchdog(nano):
    booted(nano)
    for _ in range(5):
        on(nano)
        # STATUS unasked and asked for, an overheat and its words: as much as one turn can say.
        nano.do(f"wait {(5 - float(nano.do('time')) % 5) % 5 + 4.8}")
        nano.write(b"STATUS\nSTATUS\n")
        nano.do("temperature skin 41")
        nano.do("wait 1")
        nano.do("temperature skin 34")
        seen = nano.lines_so_far()
        assert "ERROR:OVERHEAT" in seen and not any(line.startswith("Reset:") for line in seen), seen
        off(nano)


def status_comes_every_five_seconds_while_on(nano):
    booted(nano)
    nano.do("wait 1")
    # Counted from boot, not from ON: the first comes less than 5 s after ON.
    nano.run_until(8)
    on(nano)
    nano.do("wait 0.5")
    nano.run_until(9.8)
    expect_silence(nano)
    for beat in (10, 15, 20, 25):
        nano.run_until(beat + 0.9)
        seen = nano.lines_so_far()
        assert len(seen) == 1 and seen[0].startswith("STATUS:{State:ON,Speed:70%,"), seen
        nano.run_until(beat + 4.8)
        expect_silence(nano)
    off(nano)
    nano.do("wait 11")
    expect_silence(nano)


def minutes_are_counted(nano):
    booted(nano)
    on(nano)
    nano.do("skip 330")
    nano.status(r"STATUS:\{State:ON,Speed:70%,Runtime:5m,Remaining:24m,.*")


def thirty_minutes_stop_the_pump(nano):
    booted(nano)
    on(nano)
    nano.do("skip 1790")
    nano.status(r"STATUS:\{State:ON,Speed:70%,Runtime:29m,Remaining:0m,.*")
    nano.measure("pwm", "1 180")
    nano.do("skip 10")
    nano.expect("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")
    nano.measure("pwm", "0 0")
    nano.ask("ON", "ERROR:PUMP_START_FAILED")
    nano.ask("SPEED:100", "ERROR:PUMP_NOT_RUNNING")
    nano.status(r"STATUS:\{State:ERROR,WaterTemp:1[12]\.\dC,SkinTemp:3[34]\.\dC\}")
    off(nano)
    on(nano)


def on_restarts_the_run_timer(nano):
    booted(nano)
    on(nano)
    nano.do("skip 1200")
    on(nano)
    nano.do("skip 1200")
    nano.status(r"STATUS:\{State:ON,Speed:70%,Runtime:20m,.*")


def the_clock_may_wrap_while_the_pump_runs(nano):
    booted(nano)
    nano.do("skip 4294000")
    on(nano)
    nano.do("skip 1700")
    nano.status(r"STATUS:\{State:ON,Speed:70%,Runtime:28m,Remaining:1m,.*")
    nano.do("skip 101")
    nano.do("wait 1")
    nano.expect("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")


def hot_skin_stops_the_pump(nano):
    booted(nano)
    nano.do("temperature skin 41")
    nano.do("wait 1")
    expect_silence(nano)
    nano.do("temperature skin 39.8")
    on(nano)
    nano.do("wait 1")
    nano.measure("pwm", "1 180")
    nano.do("temperature skin 40.2")
    nano.do("wait 1")
    nano.expect("ERROR:OVERHEAT", "Skin temperature too high: ?C")
    nano.measure("pwm", "0 0")
    nano.do("temperature skin 34")
    nano.ask("ON", "ERROR:PUMP_START_FAILED")
    off(nano)
    on(nano)


def the_button_toggles_the_pump(nano):
    booted(nano)
    nano.do("press")
    nano.expect("MANUAL:ON")
    nano.measure("pwm", "1 180")
    nano.do("press")
    nano.expect("MANUAL:OFF")
    nano.measure("pwm", "0 0")


def the_button_leaves_the_error_state(nano):
    booted(nano)
    on(nano)
    nano.do("skip 1800")
    nano.expect("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")
    nano.do("press")
    nano.expect("MANUAL:OFF")
    nano.status(r"STATUS:\{State:OFF,.*")


def the_potentiometer_sets_the_speed_while_on(nano):
    booted(nano)
    nano.do(turn_to(1023))
    nano.do("wait 1")
    nano.measure("pwm", "0 0")
    nano.do(turn_to(716))
    on(nano)
    for reading, pwm in ((512, 130), (20, 10), (19, 0), (1023, 255)):
        nano.do(turn_to(reading))
        wait_for_pwm(nano, f"1 {pwm}")
    nano.ask("SPEED:40", "OK", "SPEED:40")
    nano.do(turn_to(1003))
    nano.do("wait 1")
    nano.measure("pwm", "1 40")
    nano.do(turn_to(998))
    wait_for_pwm(nano, "1 248")


def the_leds_show_power_and_commands(nano):
    booted(nano)

    def leds():
        seen = set()
        for _ in range(20):
            seen.add(nano.do("leds"))
            nano.do("wait 0.02")
        return seen

    seen = leds()
    assert seen == {"1 0"}, seen
    nano.write(b"TEMP\n")
    seen = leds()
    assert seen == {"1 0", "1 1"}, seen


def a_reset_stops_the_pump(nano):
    booted(nano)
    on(nano)
    nano.do("reset")
    nano.write(b"SPEED:9\n")
    nano.measure("pwm", "0 0")
    booted(nano, "external")
    nano.expect("ERROR:PUMP_NOT_RUNNING")


# nano-sim's own promises.


def wrong_control_lines_are_answered(nano):
    for command in ("frob", "turn 1.01", "turn -0.1", "turn nan", "turn", "turn 0.5 0.5", "temperature skin warm",
                    "temperature air 20", "temperature water 500", "probe skin", "probe skin short", "press hard",
                    "advance -1s", "advance 5 m", "advance 0", "skip -1", "skip x", "pwm 1", "wait nan", "x" * 300):
        answer = nano.control(command)
        assert answer.startswith("error "), f"{command}: {answer}"
    assert nano.do("stats").endswith("dropped 0")


def the_knob_is_turned_to_each_reading(nano):
    for reading in range(1024):
        nano.do(turn_to(reading))
        assert json.loads(nano.do("state"))["knob"] == reading / 1023, reading


def an_advance_is_as_good_as_the_time_that_passes(nano):
    booted(nano)
    on(nano)
    nano.lines_so_far()
    nano.do("advance 29m")
    nano.measure("pwm", "1 180")
    seen = nano.lines_before_temperature()
    # One each 5 s.
    assert len(seen) in (347, 348) and all(line.startswith("STATUS:{State:ON,") for line in seen), f"{len(seen)} lines"
    assert "Runtime:28m,Remaining:1m" in seen[-1], seen[-1]
    nano.do("advance 90.5s")
    nano.measure("pwm", "0 0")
    nano.expect("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")
    before = float(nano.do("time"))
    nano.do("advance 500ms")
    # A short one is run in full.
    assert 0.5 <= float(nano.do("time")) - before < 0.6
    assert nano.do("stats").endswith("dropped 0")


def a_board_starts_within_an_advance(nano):
    booted(nano)
    nano.do_at_once("reset", "advance 3s")
    booted(nano, "external")


def clients_come_and_go(nano):
    booted(nano)
    for _ in range(20):
        nano.ask("OFF", "OK", "PUMP:OFF")
        nano.disconnect()
        nano.connect()
    on(nano)


def a_slow_client_loses_nothing(nano):
    booted(nano)
    on(nano)
    # More than the 4 KiB of a tty's input queue.
    count = 70
    for _ in range(count):
        nano.do("skip 5")
        nano.do("wait 0.3")
    for _ in range(count):
        line = nano.line()
        assert line is not None and re.fullmatch(r"STATUS:\{State:ON,.*\}", line), line
    assert nano.do("stats").endswith("dropped 0")


CHECKS = [
    the_banner_ends_a_setup_of_1300_ms,
    on_starts_at_seventy_percent,
    off_always_works,
    speed_sets_the_pwm,
    speed_is_read_as_atoi_does,
    a_wrong_speed_is_refused,
    commands_are_exact_but_for_case,
    a_command_ends_at_its_first_nul,
    either_line_end_ends_a_command,
    sixty_three_bytes_are_a_command,
    seventy_bytes_are_an_overflow_before_a_command,
    commands_wait_for_their_turn,
    temp_tells_both_temperatures,
    a_broken_thermistor_is_shown,
    status_comes_every_five_seconds_while_on,
    minutes_are_counted,
    thirty_minutes_stop_the_pump,
    on_restarts_the_run_timer,
    the_clock_may_wrap_while_the_pump_runs,
    hot_skin_stops_the_pump,
    the_button_toggles_the_pump,
    the_button_leaves_the_error_state,
    the_potentiometer_sets_the_speed_while_on,
    the_leds_show_power_and_commands,
    a_reset_stops_the_pump,
    wrong_control_lines_are_answered,
    the_knob_is_turned_to_each_reading,
    an_advance_is_as_good_as_the_time_that_passes,
    a_board_starts_within_an_advance,
    clients_come_and_go,
    a_slow_client_loses_nothing,
]


# What the firmware does that the devices in the field do not, and what they do.
THERMISTOR_CHECKS = [
    a_thermistor_that_fails_stops_the_pump_within_a_second,
    a_thermistor_that_drifts_stops_the_pump_where_skin_ends,
]
SAFE_CHECKS = THERMISTOR_CHECKS + [
    a_fault_stops_the_pump_also_while_commands_keep_it_busy,
    with_a_fault_the_pump_does_not_start,
    a_reading_that_jumps_for_a_moment_stops_nothing,
    a_loose_contact_stops_the_pump,
    a_firmware_that_hangs_is_reset_and_the_pump_stops,
    long_lines_do_not_wake_the_watchdog,
]
FIELD_CHECKS = [in_the_field_a_broken_thermistor_stops_nothing]


# Checks that start nano-sim themselves, with other firmware or in other ways.


def one_thermistor_firmware_has_its_own_lines(start):
    with start("nano-pump-one-thermistor.elf", "--skin", "34.5") as nano:
        booted(nano)
        nano.status(r"STATUS:\{State:OFF,Temp:34\.[456]C\}")
        on(nano)
        nano.status(r"STATUS:\{State:ON,Speed:70%,Runtime:0m,Remaining:29m,Temp:34\.[456]C\}")
        nano.write(b"TEMP\n")
        seen = nano.line()
        assert re.fullmatch(r"TEMP:34\.[456]", seen), seen
        nano.do("temperature skin 41")
        nano.expect("ERROR:OVERHEAT", "Skin temperature too high: ?C")
        nano.status(r"STATUS:\{State:ERROR,Temp:(40\.9|41\.[01])C\}")
        nano.do("press")
        nano.expect("MANUAL:OFF")


def a_reset_is_told_where_the_bootloader_clears_its_cause(start):
    with start("nano-pump.elf", "--optiboot") as nano:
        booted(nano, "power-on")
        nano.do("reset")
        booted(nano, "external, brown-out or power")
        nano.do("hang")
        nano.do("wait 3")
        booted(nano, "watchdog")
        on(nano)
        nano.do("reset")
        booted(nano, "external, brown-out or power")


def without_a_watchdog_a_hang_lasts(start):
    for firmware in ("nano-pump-old-bootloader.elf", "nano-pump-field.elf"):
        with start(firmware) as nano:
            booted(nano)
            on(nano)
            nano.do("hang")
            nano.do("wait 5")
            nano.measure("pwm", "1 180")


def the_fields_banners_tell_no_reset(start):
    with start("nano-pump-hello-field.elf") as nano:
        off(nano, "HELLO:nano-pump 1.1.0")


def other_banners_can_be_built(start):
    with start("nano-pump-hello.elf") as nano:
        nano.expect("HELLO:nano-pump 1.1.0", "Reset: power-on")
        off(nano)
    with start("nano-pump-quiet.elf") as nano:
        off(nano)
    with start("nano-pump-one-thermistor-hello.elf") as nano:
        nano.expect("HELLO:nano-pump 1.1.0", "Reset: power-on")
    with start("nano-pump-one-thermistor-quiet.elf") as nano:
        off(nano)


def on_demand_time_stands_still(start):
    with start("nano-pump.elf", "--on-demand") as nano:
        booted(nano)
        on(nano)
        nano.do("wait 0.5")
        before = nano.do("time")
        assert nano.do("time") == before
        nano.do("wait 4.9")
        assert nano.line().startswith("STATUS:{State:ON,")
        nano.do("reset")
        booted(nano, "external")


def stepped(start, *lines):
    """What a board answers to these lines whose time is its host's."""
    with start("nano-pump-quiet.elf") as nano:
        program, firmware = nano.process.args[0], nano.process.args[-1]
    ended = subprocess.run(
        [program, "--stepped", firmware], input="".join(line + "\n" for line in lines), capture_output=True, text=True,
        timeout=DEADLINE)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def a_stepped_board_runs_when_it_is_told_to(start):
    ask = "send " + b"TEMP\n".hex()
    run = "run 400000"
    lines = ["run 2000000", ask, run, run, run, "send " + b"ON\n".hex(), run, run, run, run, run]
    answers = stepped(start, *lines)
    words = [answer.split() for answer in answers]
    assert words[0][0] == "ok" and 0 <= int(words[0][1]) - 2000000 < 1100 and words[0][2:] == ["0", "-"], answers[0]
    assert answers[1] == "ok", answers[1]
    # A line's beginning ends a run, and so does its end.
    assert bytes.fromhex(words[2][3]) == b"T" and int(words[2][1]) < 2300000, answers[2]
    assert re.fullmatch(rb"EMP:\{Water:12\.0C,Skin:34\.0C\}\r\n", bytes.fromhex(words[3][3])), answers[3]
    assert words[4][3] == "-" and 0 <= int(words[4][1]) - int(words[3][1]) - 400000 < 1100, answers[4]
    assert b"".join(bytes.fromhex(line[3]) for line in words[6:10]) == b"OK\r\nPUMP:ON\r\n", answers[6:10]
    assert stepped(start, *lines) == answers, "not the same each time"


def verbs_take_no_time_of_a_stepped_board(start):
    run = "run 200000"
    answers = stepped(
        start, "run 2000000", "press", run, run, "advance 1m", "run 1000000", run, run, run, run, "advance 1m", "pwm",
        "run 1", "fly", "run far", "send 4", "send " + "58" * 300)
    assert answers[1] == "ok press", answers[1]
    assert answers[2].split()[2] == "1", "a press is over too soon"
    assert answers[4].startswith("error "), "two verbs at once"
    assert answers[9].split()[2] == "0", "a press does not end"
    assert answers[10:12] == ["ok advance", "ok 1 180"], answers[10:12]
    # Within the advance it has reported each 5 s.
    assert int(answers[12].split()[1]) - int(answers[9].split()[1]) <= 1100, answers[12]
    assert bytes.fromhex(answers[12].split()[3]).count(b"STATUS:{State:ON,") >= 11, answers[12]
    assert all(answer.startswith("error ") for answer in answers[13:17]) and len(answers) == 17, answers[13:]


def the_link_lives_as_long_as_the_program(start):
    with tempfile.TemporaryDirectory() as directory:
        link = os.path.join(directory, "nano")
        os.symlink("/nowhere", link)
        with start("nano-pump-quiet.elf", "--link", link) as nano:
            assert nano.path == link
            off(nano)
            nano.process.send_signal(signal.SIGTERM)
            assert nano.process.wait(DEADLINE) == 0
        assert os.listdir(directory) == []
        with start("nano-pump-quiet.elf", "--link", link) as nano:
            assert nano.do("quit") == "quit"
            assert nano.process.wait(DEADLINE) == 0
        assert os.listdir(directory) == []


def a_link_that_another_took_over_stays(start):
    with tempfile.TemporaryDirectory() as directory:
        link = os.path.join(directory, "nano")
        with start("nano-pump-quiet.elf", "--link", link) as first:
            with start("nano-pump-quiet.elf", "--link", link) as second:
                first.do("quit")
                first.process.wait(DEADLINE)
                assert os.path.islink(link)
                off(second)


def stdins_end_ends_it_if_asked(start):
    with start("nano-pump-quiet.elf") as nano:
        nano.process.stdin.close()
        assert nano.process.wait(DEADLINE) == 0


class Control:
    """A program at the control socket."""

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
        return self.lines.readline() == ""

    def ask(self, verb, *arguments):
        self.send(json.dumps({"id": 1, "do": verb, "arguments": arguments}) + "\n")
        return self.answer()

    def close(self):
        self.lines.close()
        self.socket.close()


@contextlib.contextmanager
def at_socket(start, *options):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "control")
        with start("nano-pump.elf", "--control", path, *options) as nano, contextlib.closing(Control(path)) as control:
            booted(nano)
            yield nano, control, path


def the_socket_is_for_this_user_and_goes_with_the_program(start):
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
        with start("nano-pump.elf", "--control", path) as second, contextlib.closing(Control(path)) as control:
            command = [*second.process.args[:1], "--control", path, second.process.args[-1]]
            assert subprocess.run(command, stderr=subprocess.DEVNULL, timeout=DEADLINE).returncode == 73
            assert control.ask("state")["ok"]
        with open(path, "w") as file:
            file.write("mine")
        assert subprocess.run(command, stderr=subprocess.DEVNULL, timeout=DEADLINE).returncode == 73
        assert open(path).read() == "mine"


def several_programs_are_served_one_request_at_a_time(start):
    with at_socket(start) as (nano, control, path), contextlib.closing(Control(path)) as other:
        press, turn = ('{"id":"%s","do":"%s","arguments":%s}\n' % words for words in (
            ("a", "press", "[]"), ("b", "turn", '["1"]')))
        control.send(press + turn)
        answers = [control.answer(), control.answer()]
        assert [answer["id"] for answer in answers] == ["a", "b"], answers
        assert answers[0]["state"]["knob"] < 1 and answers[1]["state"]["knob"] == 1, answers
        nano.expect("MANUAL:ON")
        # In one go, and on stdin besides: a press that came into another would be none.
        for program in (control, other):
            program.send(press * 2)
        nano.do("press")
        for program in (control, control, other, other):
            assert program.answer()["ok"]
        nano.expect("MANUAL:OFF", "MANUAL:ON", "MANUAL:OFF", "MANUAL:ON", "MANUAL:OFF")


def programs_at_the_socket_may_leave_at_any_moment(start):
    with at_socket(start) as (nano, control, path):
        for text in ('{"id":1,"do":"adv', '{"id":1,"do":"advance","arguments":["10m"]}\n', "x" * 20000):
            with contextlib.closing(Control(path)) as other:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    other.send(text)
        with contextlib.closing(Control(path)) as other:
            # What was asked for is answered also to who says no more.
            other.send('{"id":1,"do":"press"}\n{"id":2,"do":"state"}\n{"id":3')
            other.socket.shutdown(socket.SHUT_WR)
            assert [other.answer()["id"], other.answer()["id"]] == [1, 2] and other.has_ended()
        nano.expect("MANUAL:ON")


def a_program_that_reads_nothing_holds_up_only_itself(start):
    with at_socket(start) as (nano, control, path), contextlib.closing(Control(path)) as other:
        other.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                other.send('{"id":1,"do":"state"}\n' * 1000)
        assert control.ask("press")["ok"]
        nano.expect("MANUAL:ON")


STARTING_CHECKS = [
    a_reset_is_told_where_the_bootloader_clears_its_cause,
    without_a_watchdog_a_hang_lasts,
    the_fields_banners_tell_no_reset,
    one_thermistor_firmware_has_its_own_lines,
    other_banners_can_be_built,
    on_demand_time_stands_still,
    a_stepped_board_runs_when_it_is_told_to,
    verbs_take_no_time_of_a_stepped_board,
    the_link_lives_as_long_as_the_program,
    a_link_that_another_took_over_stays,
    stdins_end_ends_it_if_asked,
    the_socket_is_for_this_user_and_goes_with_the_program,
    a_stale_socket_is_replaced_and_nothing_else,
    several_programs_are_served_one_request_at_a_time,
    programs_at_the_socket_may_leave_at_any_moment,
    a_program_that_reads_nothing_holds_up_only_itself,
]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--paced", action="store_true", help="run in real time")
    arguments.add_argument("nano_sim")
    arguments.add_argument("firmware_directory")
    options = arguments.parse_args()
    pace = [] if options.paced else ["--on-demand"]

    @contextlib.contextmanager
    def start(firmware, *more):
        nano = Nano(options.nano_sim, os.path.join(options.firmware_directory, firmware), *pace, *more)
        try:
            yield nano
        finally:
            nano.stop()

    def run_on_fresh_board(check, firmware):
        with start(firmware) as nano:
            check(nano)

    checks = [
        (check, lambda check=check, firmware=firmware: run_on_fresh_board(check, firmware))
        for firmware, its_checks in (
            ("nano-pump.elf", CHECKS + SAFE_CHECKS), ("nano-pump-field.elf", CHECKS + FIELD_CHECKS),
            ("nano-pump-one-thermistor.elf", THERMISTOR_CHECKS), ("nano-pump-old-bootloader.elf", THERMISTOR_CHECKS))
        for check in its_checks]
    checks += [(check, lambda check=check: check(start)) for check in STARTING_CHECKS]
    failures = 0
    print(f"1..{len(checks)}")
    for number, (check, run) in enumerate(checks, 1):
        name = check.__name__.replace("_", " ")
        try:
            run()
        except (AssertionError, OSError, subprocess.TimeoutExpired) as failure:
            failures += 1
            print(f"not ok {number} - {name}\n  {failure}", flush=True)
        else:
            print(f"ok {number} - {name}", flush=True)
    print(f"# {len(checks)} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
