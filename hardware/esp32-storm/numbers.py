#!/usr/bin/env python3
"""Compute the numbers in README.md and wiring.md, and compare them with the pages."""

import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "esp32-pages"))
from pages import Pages, value  # noqa: E402

pages = Pages(HERE)
pages.same_core("3.3.5")

# The inputs. Source of the ADC range at 11 dB: ESP-IDF, "Analog to Digital Converter". Source of its error and of the
# pin's limit: ESP32 datasheet.
LOWEST, HIGHEST, ADC_ERROR = 0.150, 2.450, 0.060
SUPPLY, PIN_LIMIT = 3.3, 3.6
# BAT85: maximum forward voltage at 0.1 mA and at 1 mA; maximum reverse current at 25 V.
DROP, DROP_AT_1_MA, LEAKAGE = 0.24, 0.32, 2e-6

parts = pages.parts("wiring.md")
upper, lower, filter_capacitor = value(parts["R11"]), value(parts["R21"]), value(parts["C1"])
factor = (upper + lower) / lower
source = upper * lower / (upper + lower)
tolerance = 1 - (0.99 * lower / (1.01 * upper + 0.99 * lower)) * factor


def clamped(volts, drop):
    """Return the current into the clamping diode, in amperes, with `volts` on the sensor's line."""
    pin = SUPPLY + drop
    return (volts - pin) / upper - pin / lower


highest_line = SUPPLY + DROP + upper * (1e-4 + (SUPPLY + DROP) / lower)
pages.check(SUPPLY + DROP < PIN_LIMIT < SUPPLY + DROP_AT_1_MA, "the clamp's limits are not as the page has them")
pages.check(1e-4 < clamped(12, DROP_AT_1_MA) < 1e-3, "12 V is not beyond what the clamp holds")
pages.says(
    "wiring.md",
    f"multiply by {factor:.1f}",
    f"{LOWEST:.2f} V to {HIGHEST:.2f} V",
    f"{LOWEST * factor:.2f} V to {HIGHEST * factor:.2f} V",
    f"5 V is {5 / factor:.2f} V at the pin",
    f"{tolerance * 100:.1f} % of the reading",
    f"±{ADC_ERROR * 1000:.0f} mV at the pin, ±{ADC_ERROR * factor * 1000:.0f} mV at the sensor",
    f"{LEAKAGE * source * 1000:.0f} mV at the pin",
    f"{0.01 * factor:.3f} V at the sensor",
    f"{source / 1000:.2f} kΩ",
    f"{source * filter_capacitor * 1e3:.2f} ms",
    f"{1 / (2 * math.pi * source * filter_capacitor):.0f} Hz",
    f"up to {highest_line:.1f} V",
    f"{SUPPLY + DROP:.2f} V",
    f"{clamped(12, DROP_AT_1_MA) * 1000:.2f} mA",
    f"{SUPPLY + DROP_AT_1_MA:.2f} V",
)

# The pins in the sketch, the table and the drawing.
pins = [int(pin) for pin in pages.find("board.cpp", r"sensorPins\[\] = \{([^}]*)\}").split(",")]
nets = pages.nets("wiring.md")
for port, pin in enumerate(pins, 1):
    pages.check(f"U1.IO{pin}" in nets.get(f"ADC{port}", []), f"wiring.md: port {port} is not at IO{pin}")
    pages.check(f"J1.{port}" in nets.get(f"SENSOR{port}", []), f"wiring.md: J1-{port} is not on SENSOR{port}")
joined = {pin.split(".")[0] for joined_pins in nets.values() for pin in joined_pins}
pages.check(joined == set(parts), f"wiring.md: not both in a net and a part: {', '.join(sorted(joined ^ set(parts)))}")
pages.drawn("wiring.svg", parts, nets, [f"IO{pin}" for pin in pins])
for row in pages.table("wiring.md", "Parts"):
    pages.check(len(row[0].split(", ")) == int(row[3]), f"wiring.md: {row[0]} are not {row[3]}")

# The log: the bytes of a row, the bytes of a block of flash, and the erasures that flash usually bears. The
# sizes of a scheme's program and log, and the log's offset, are from the core's tools/partitions.
ROW, ROWS_A_SECOND, BLOCK, ERASURES = len("1 1 1 0.00\n"), 1, 4096, 100_000
PARTITIONS = {"no_ota": (0x200000, 0x210000, 0x1E0000)}
scheme = pages.find("sketch.yaml", r"PartitionScheme=(\w+)")
pages.check(f"{scheme}.csv" in pages.text("platformio.ini"), f"platformio.ini does not name {scheme}.csv")
program, log_offset, log_size = PARTITIONS[scheme]
blocks = log_size // BLOCK
erasures_a_day = 86400 * ROWS_A_SECOND / blocks
pages.says(
    "README.md",
    f"{program / 2**20:.0f} MB",
    f"{log_size} bytes",
    f"{ROW} bytes",
    f"{log_size / (ROW * ROWS_A_SECOND) / 3600:.0f} hours",
    f"{log_size * 10 / 115200 / 60:.1f} minutes by line",
    f"{514 / 0.010 / 1000:.0f} kB/s at an MTU of 517",
    f"{20 / 0.010 / 1000:.0f} kB/s at an MTU of 23",
    f"{log_size / 20 * 0.010 / 60:.0f} minutes by radio at an MTU of 23",
    f"{erasures_a_day:.0f} times a day",
    f"{ERASURES / erasures_a_day / 30.4:.0f} months",
)
pages.says("first-light.md", f"{log_offset:#x} {log_size:#x}", f"{factor:.1f}")
pages.conclude()
