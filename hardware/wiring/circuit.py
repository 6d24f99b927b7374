"""The circuit of nano-pump.net: parts and nets. The head of that file describes the format."""

from __future__ import annotations

import dataclasses
import re

KEYS = ("what", "value", "tolerance", "rating", "number", "note", "variant", "pins")
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}


class Mistake(Exception):
    """A malformed netlist, or a firmware constant that is not found exactly once."""


@dataclasses.dataclass
class Part:
    """A part; identical ones differ in the reference only."""

    reference: str
    what: str = ""
    value: str = ""
    tolerance: str = ""
    rating: str = ""
    number: str = ""
    note: str = ""
    variant: str = ""
    pins: tuple[str, ...] = ()
    #: The references of all identical parts, including this one: one line of the parts list.
    alike: tuple[str, ...] = ()

    @property
    def size(self) -> float:
        """The value in ohm, farad, ampere, volt, ampere-hour or °C/W."""
        return quantity(self.value)

    @property
    def error(self) -> float:
        """The tolerance, as a fraction."""
        return quantity(self.tolerance) / 100

    @property
    def limit(self) -> float:
        """The rating in volt or ampere."""
        return quantity(self.rating)


@dataclasses.dataclass
class Circuit:
    """The parts, by reference, and the nets, by name."""

    parts: dict[str, Part]
    #: The pins of each net, as `R1.2`, in the netlist's order.
    nets: dict[str, list[str]]

    def net_of(self, pin: str) -> str:
        return next(net for net, pins in self.nets.items() if pin in pins)


def quantity(text: str) -> float:
    """Return `4.7 kΩ` as 4700.0; a percentage keeps its number."""
    match = re.fullmatch(r"([\d.]+) ([kMmµnp]?)(Ω|F|V|Ah|A|%|H|°C/W)", text)
    if not match:
        raise Mistake(f"{text!r} is no value with a unit")
    return float(match[1]) * PREFIXES[match[2]]


def parse(text: str) -> Circuit:
    """Parse a netlist; raise Mistake if it is malformed, or if `check_pins` finds a fault."""
    circuit = Circuit({}, {})
    group: list[Part] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "part":
            group = [Part(reference, alike=tuple(words[1:])) for reference in words[1:]]
            for part in group:
                if part.reference in circuit.parts:
                    raise Mistake(f"line {number}: there are two {part.reference}")
                circuit.parts[part.reference] = part
        elif words[0] == "net":
            name = words[1].removesuffix(":")
            if name in circuit.nets:
                raise Mistake(f"line {number}: there are two nets {name}")
            circuit.nets[name] = words[2:]
        else:
            key, _, value = line.strip().partition(": ")
            if not line.startswith("  ") or key not in KEYS:
                raise Mistake(f"line {number}: {line.strip()!r} describes nothing")
            for part in group:
                setattr(part, key, tuple(value.split()) if key == "pins" else value)
    check_pins(circuit)
    return circuit


def check_pins(circuit: Circuit) -> None:
    """Raise Mistake if a pin is unknown, in no net or in two, or if a net has fewer than two pins."""
    known = {f"{part.reference}.{pin}" for part in circuit.parts.values() for pin in part.pins}
    joined = [pin for pins in circuit.nets.values() for pin in pins]
    for pin in joined:
        if pin not in known:
            raise Mistake(f"no part has a pin {pin}")
        if joined.count(pin) > 1:
            raise Mistake(f"{pin} is in two nets")
    for pin in sorted(known.difference(joined)):
        raise Mistake(f"{pin} is in no net")
    for net, pins in circuit.nets.items():
        if len(pins) < 2:
            raise Mistake(f"the net {net} joins nothing")


def joined_text(circuit: Circuit) -> str:
    """Return the table of nets, in Markdown."""
    rows = [f"| `{net}` | {', '.join(pin.replace('.', ' ', 1) for pin in pins)} |" for net, pins in circuit.nets.items()]
    return "\n".join(["| net | joined |", "| --- | --- |", *rows])


def parts_text(circuit: Circuit) -> str:
    """Return the parts list, in Markdown."""
    rows = ["| part | pieces | what | value, rating | for example | remarks |", "| --- | --- | --- | --- | --- | --- |"]
    for part in circuit.parts.values():
        if part.reference != part.alike[0]:
            continue
        value = ", ".join(filter(None, [part.value, part.tolerance and "± " + part.tolerance, part.rating]))
        remarks = "; ".join(filter(None, [part.variant and f"only {part.variant}", part.note]))
        rows.append(
            f"| {', '.join(part.alike)} | {len(part.alike)} | {part.what} | {value} | {part.number} | {remarks} |")
    return "\n".join(rows)
