"""The constants of the pump's firmware on which the circuit and its pages rely, read from its sources."""

from __future__ import annotations

import dataclasses
import math
import re

from circuit import Mistake

#: Each constant's file, relative to this folder, and the pattern of its number.
WHERE = {
    "skin_lowest": ("../nano-pump/config.h", r"#define SKIN_LOWEST ([\d.]+)f?\b"),
    "skin_highest": ("../nano-pump/config.h", r"#define SKIN_HIGHEST ([\d.]+)f?\b"),
    "pause": ("../nano-pump/nano-pump.ino", r"\bpauseTime = (\d+);"),
    "blink": ("../nano-pump/nano-pump.ino", r"\bblinkTime = (\d+);"),
    "start_speed": ("../nano-pump/src/pump.h", r"\bstartSpeed = (\d+);"),
    "run_limit": ("../nano-pump/src/pump.h", r"\brunLimit = ([\dUL* ]+);"),
    "knob_at_boot": ("../nano-pump/src/potentiometer.h", r"\b_taken = (\d+);"),
    "dead_zone": ("../nano-pump/src/potentiometer.cpp", r"\bdeadZone = (\d+);"),
    "slowest": ("../nano-pump/src/potentiometer.cpp", r"\bslowest = (\d+);"),
    "fastest": ("../nano-pump/src/potentiometer.cpp", r"\bfastest = (\d+);"),
    "steps": ("../nano-pump/src/potentiometer.cpp", r"\bfullScale = (\d+);"),
    "beta": ("../nano-pump/src/thermistor.cpp", r"\bbeta = ([\d.]+)f?;"),
    "lowest_sound": ("../nano-pump/src/thermistor.cpp", r"\blowestSound = (\d+);"),
    "highest_sound": ("../nano-pump/src/thermistor.cpp", r"\bhighestSound = (\d+);"),
    "enough": ("../nano-pump/src/safety.cpp", r"\benough = (\d+);"),
    "longest_line": ("../nano-pump/src/status_text.h", r"\bsize_t size = (\d+);"),
    "baud": ("../nano-pump/board.h", r"\bbaud = (\d+);"),
    "watchdog": ("../nano-pump/board.h", r"\bwatchdogTime = (\d+);"),
}
FILES = tuple(sorted({name for name, _ in WHERE.values()}))


@dataclasses.dataclass
class Firmware:
    """The constants: temperatures in °C, times in s, readings in steps of the ADC, speeds from 0 to 255."""

    skin_lowest: float
    skin_highest: float
    pause: float
    blink: float
    start_speed: float
    run_limit: float
    knob_at_boot: float
    dead_zone: float
    slowest: float
    fastest: float
    steps: float
    beta: float
    lowest_sound: float
    highest_sound: float
    #: The score at which the pump stops; a bad reading adds two.
    enough: float
    #: In bytes.
    longest_line: float
    baud: float
    watchdog: float

    def speed(self, reading: float) -> int:
        """Return the speed that the firmware derives from the knob's reading."""
        if reading < self.dead_zone:
            return 0
        return int(self.slowest + (int(reading) - self.dead_zone) * (self.fastest - self.slowest)
                   // (self.steps - self.dead_zone))


def parse(files: dict[str, str]) -> Firmware:
    """Read the constants from the texts of `FILES`, by file name; raise Mistake if one is not found exactly once."""
    values: dict[str, float] = {}
    for constant, (name, pattern) in WHERE.items():
        found = re.findall(pattern, files[name])
        if len(found) != 1:
            raise Mistake(f"{name}: {constant} is there {len(found)} times; firmware.py looks for {pattern}")
        values[constant] = math.prod(float(factor.strip(" UL")) for factor in found[0].split("*"))
    for constant in ("pause", "blink", "run_limit", "watchdog"):
        values[constant] /= 1000
    return Firmware(**values)
