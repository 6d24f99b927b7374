#!/usr/bin/env python3
"""Compute the numbers in wiring.md, and compare them with the page."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "esp32-pages"))
from pages import Pages, value  # noqa: E402

pages = Pages(HERE)
pages.same_core("3.3.5")

# A red LED's forward voltage (minimum, typical, maximum), and a pin's current at the default drive strength.
HIGH, FORWARD, PIN_CURRENT = 3.3, (1.8, 2.0, 2.2), 0.020

parts = pages.parts("wiring.md")
resistance = value(parts["R1"])
most, typical, least = ((HIGH - forward) / resistance for forward in FORWARD)
pages.check(most < PIN_CURRENT / 4, "the LED takes more than a quarter of what the pin gives")
pages.says(
    "wiring.md",
    f"{typical * 1000:.1f} mA",
    f"{least * 1000:.1f} mA to {most * 1000:.1f} mA",
    f"{most ** 2 * resistance * 1000:.1f} mW",
    f"{PIN_CURRENT * 1000:.0f} mA",
)

pin = pages.find("board.cpp", r"lampPin = (\d+);")
pages.check(pin not in {"0", "3", "45", "46"}, f"GPIO {pin} is a strapping pin")
nets = pages.nets("wiring.md")
pages.check(f"U1.{pin}" in nets.get("LAMP", []), f"wiring.md: the lamp is not at GPIO {pin}")
joined = {part_pin.split(".")[0] for pins in nets.values() for part_pin in pins}
pages.check(joined == set(parts), f"wiring.md: not both in a net and a part: {', '.join(sorted(joined ^ set(parts)))}")
pages.drawn("wiring.svg", parts, nets, [f"GPIO {pin}", "GND"])
for row in pages.table("wiring.md", "Parts"):
    pages.check(len(row[0].split(", ")) == int(row[3]), f"wiring.md: {row[0]} are not {row[3]}")

scheme = pages.find("sketch.yaml", r"PartitionScheme=(\w+)")
pages.check(f"{scheme}.csv" in pages.text("platformio.ini"), f"platformio.ini does not name {scheme}.csv")
pages.says("README.md", f"`{scheme}`")
pages.says("first-light.md", f"GPIO {pin}")
pages.conclude()
