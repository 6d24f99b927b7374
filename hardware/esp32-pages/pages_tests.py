#!/usr/bin/env python3
"""Prove that the checks of `pages.py` detect faults: each source is changed in memory."""

import re
import unittest
from pathlib import Path

from pages import Pages

HARDWARE = Path(__file__).resolve().parent.parent
SKETCHES = ("esp32-storm", "esp32-led")


class Changed(Pages):
    """A sketch's pages, with the text of one file replaced."""

    def __init__(self, sketch, name, text):
        super().__init__(HARDWARE / sketch)
        self.changed = {name: text}

    def text(self, name):
        return self.changed[name] if name in self.changed else super().text(name)


def said(page, phrase):
    """Return whether `says` finds the phrase in a page with this text."""
    pages = Changed(SKETCHES[0], "page.md", page)
    pages.says("page.md", phrase)
    return not pages.faults


class Phrases(unittest.TestCase):
    def test_a_phrase_is_found_across_lines(self):
        self.assertTrue(said("at most\n2 kB/s\nat an MTU of 23.", "2 kB/s at an MTU of 23"))

    def test_a_phrase_is_not_a_part_of_another_number(self):
        self.assertFalse(said("12 kB/s at an MTU of 23", "2 kB/s at an MTU of 23"))
        self.assertFalse(said("1.2 kB/s", "2 kB/s"))
        self.assertFalse(said("2 kB/s at an MTU of 230", "2 kB/s at an MTU of 23"))
        self.assertFalse(said("multiply by 2.25", "multiply by 2.2"))
        self.assertFalse(said("multiply by 2.2", "multiply by 2"))
        self.assertFalse(said("2.8 minutes", "2.8 minute"))


class Drawings(unittest.TestCase):
    def faults(self, sketch, name, text):
        pages = Changed(sketch, name, text)
        pages.drawn("wiring.svg", pages.parts("wiring.md"), pages.nets("wiring.md"), [])
        return pages.faults

    def each(self, pattern, change):
        """Change each match of the pattern in the drawings, one at a time, and check that a fault is found."""
        for sketch in SKETCHES:
            text = (HARDWARE / sketch / "wiring.svg").read_text(encoding="utf-8")
            self.assertEqual(self.faults(sketch, "wiring.svg", text), [])
            # The symbol definitions before </defs> are not read as wires.
            matches = list(re.compile(pattern).finditer(text, text.index("</defs>")))
            self.assertTrue(matches)
            for match in matches:
                with self.subTest(sketch=sketch, match=match[0], at=match.start()):
                    other = text[:match.start()] + change(match) + text[match.end():]
                    self.assertTrue(self.faults(sketch, "wiring.svg", other))

    def test_each_wire_that_is_left_out(self):
        self.each(r'(?<=<path class="wire" d=")[^"]*', lambda match: "")

    def test_each_run_of_a_wire_that_is_left_out(self):
        self.each(r"M\d+ \d+[^M\"]*", lambda match: "")

    def test_each_end_of_a_wire_that_is_moved(self):
        self.each(r"M(\d+) ", lambda match: f"M{int(match[1]) + 7} ")

    def test_each_dot_that_is_left_out(self):
        self.each(r'<use href="#dot"[^>]*/>', lambda match: "")

    def test_each_part_that_is_left_out(self):
        self.each(r'<use [^>]*data-part=[^>]*/>', lambda match: "")

    def test_each_part_of_two_pins_that_is_turned_round(self):
        self.each(r' data-pins="A K"', lambda match: ' data-pins="K A"')

    def test_each_pin_of_a_module_with_another_name(self):
        self.each(r'(?<=data-pin=")\w+', lambda match: match[0] + "0")

    def test_each_value_that_is_changed(self):
        self.each(r"(?<=[RC]\d )\d+|(?<=[RC]\d\d )\d+", lambda match: match[0] + "0")

    def change(self, name, old, new):
        """Return the faults after the first `old` in a file of esp32-storm was replaced by `new`."""
        text = (HARDWARE / SKETCHES[0] / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        return " ".join(self.faults(SKETCHES[0], name, text.replace(old, new, 1)))

    def test_a_symbol_of_another_net(self):
        self.assertIn("symbol of 3V3 at", self.change("wiring.svg", 'data-net="GND"', 'data-net="3V3"'))
        self.assertIn("symbol of EARTH at", self.change("wiring.svg", 'data-net="GND"', 'data-net="EARTH"'))

    def test_a_part_that_no_net_has(self):
        more = '<use href="#ground" x="20" y="20"/><use href="#down" x="20" y="20" data-part="R99"/></svg>'
        self.assertIn("R99.2, which is no net", self.change("wiring.svg", "</svg>", more))

    def test_a_net_that_is_not_drawn(self):
        more = "| `SPARE` | U1 IO4, J1-6 |\n| `ADC4` |"
        self.assertIn("lacks the net SPARE: J1.6, U1.IO4", self.change("wiring.md", "| `ADC4` |", more))

    def test_each_pin_of_the_table(self):
        for sketch in SKETCHES:
            text = (HARDWARE / sketch / "wiring.md").read_text(encoding="utf-8")
            pins = [pin for row in Pages(HARDWARE / sketch).table("wiring.md", "Nets") for pin in row[1].split(", ")]
            for pin in pins:
                with self.subTest(sketch=sketch, pin=pin):
                    other = re.sub(rf"(\| |, ){pin}(?=,| \|)", r"\1X1-1", text)
                    self.assertNotEqual(other, text)
                    self.assertTrue(self.faults(sketch, "wiring.md", other))


if __name__ == "__main__":
    unittest.main()
