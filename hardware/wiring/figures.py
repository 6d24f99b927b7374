"""Compute the figures of the circuit.

The parts' values come from nano-pump.net, and the firmware's constants from its sources. All other assumptions are
here, with their sources.

`./check --write` puts the figures into figures.md. ./check requires each number with a unit in the pages to be a
figure, a value of the netlist, or one of GIVEN.
"""

from __future__ import annotations

import dataclasses
import math

from circuit import Circuit
from firmware import Firmware

# The supply
BATTERY_FULL, BATTERY_EMPTY = 12.6, 9.0  # three Li-ion cells: 4.2 V full, 3.0 V when the protection circuit disconnects them
LOOP_RESISTANCE = 0.25  # battery, leads, fuse and the capacitor's own; an estimate, on the low side
SUPPLY_INDUCTANCE = 2e-6  # some 1 m of leads, there and back
FUSE_MELTING = 10.0  # A²s; data sheets of slow 3.15 A fuses of 5 × 20 mm state more
# The pump
PWM_FREQUENCY = 490.0  # analogWrite on D9
JAMMED = 3  # times the rated current; an assumption, to be measured
CUT_OFF_RESISTANCE = 0.05  # makers of the KSD9700 specify at most 50 mΩ
CUT_OFF_LEADS = 2e-6  # H; TC1's leads, twisted
# IRLZ44N
ON_RESISTANCE = 0.035  # at a gate voltage of 4 V and 25 °C; 0.025 at 5 V
HOT = 1.2 / 150  # relative growth of the resistance per °C above 25 °C; its data sheet's curve is about 2.2 at 175 °C
GATE_CHARGE = 48e-9
GATE_PLATEAU = 3.0  # V
JUNCTION_TO_AIR = 62.0  # TO-220 without a heat sink
JUNCTION_TO_SINK = 1.4 + 0.5  # junction to case, and case to a greased heat sink
JUNCTION_LIMIT, JUNCTION_SHOULD = 175.0, 125.0
NO_SINK = 5.0  # A; up to this jammed current no heat sinks are needed
# 1N5822
DIODE_DROP = 0.525  # at 3 A
DIODE_TO_AIR = 40.0
DIODE_SURGE = 80.0
# The Nano
USB_HIGH = 5.25
PIN_LIMIT, PIN_SHOULD = 40e-3, 20e-3  # absolute maximum of a pin; current at which the ATmega328P is specified
INPUT_LEAKAGE = 1e-6  # at most
SAMPLING_CAPACITOR = 14e-12
SAMPLING_TIME = 12e-6  # 1.5 clocks of the ADC, which runs at 125 kHz
SUPPLY = 5.0
REGULATOR_TO_AIR = 100.0  # SOT-223 on a board as small as a Nano's; an estimate
REGULATOR_LIMIT = 125.0
LED_DROP = 2.0
NANO_CURRENT = 30e-3  # ATmega328P at 16 MHz, USB chip, the board's own LEDs; an estimate
HM10_CURRENT = 50e-3  # its data sheet's supply demand; 8.5 mA when active
USB_CHIP_RESISTOR = 1000.0  # between the USB chip's output and D0, on the Nano
HM10_HIGH, HM10_MARGIN = 3.3, 0.3  # the module's supply and high level; the voltage above its supply that its pins bear
# Thermistors
BETA_ERROR = 0.01
IN_AIR, IN_WATER = 2e-3, 5.6e-3  # W/K; data sheets of a bead in still air, and of an immersion probe in still water
TABLE = {0: 31.77e3, 10: 19.68e3, 37: 6.020e3, 40: 5.327e3}  # the table sold with many parts "103 3950": 10 kΩ, B(25/50) 3950
KELVIN = 273.15
AMBIENT = 40.0  # in a worn box

#: Numbers with units that the pages state but nothing computes: policy, protocol, and values from data sheets and
#: makers.
GIVEN = """
0 V; 0 mA; 0 °C; 0.1 °C; 0.2 V; 0.25 W; 0.5 A; 0.5 s; 0.5 °C; 0.9 s; 1 A; 1 m; 1 °C; 1 µA; 1 Ω; 3.3 V; 3.6 V; 4.5 V; 5 V;
5 min; 5 s; 5 °C; 5.00 V; 5.25 V; 6.0 V; 9.0 V; 10 W; 10 s; 10 °C; 12.6 V; 25 °C; 32 kHz; 35 °C; 37 °C; 40 mA; 40 °C;
42 °C; 45 °C; 47 Ω; 50 mΩ; 50 °C; 100 kΩ; 100 Ω; 175 °C; 273 °C; 330 Ω; 490 Hz
"""

#: Parts for which a tenfold tolerance breaks no limit.
TOLERANT = {"R4", "R7", "R11", "C4", "C5"}

#: The figures that each page must state. Without this list, replacing a number by another known one would pass.
SAYS = {
    "README.md": (
        "skin: the pump stops above",
        "skin: the pump stops below",
        "the pump stops after",
        "speed after ON",
        "readings of the knob that are no speed",
        "5 V rail, at most",
        "5 V rail, HM-10 connected",
        "heat in the Nano's regulator, at most",
        "the regulator in air of 40 °C, at most",
        "heat in the Nano's regulator, usually",
        "the regulator in air of 40 °C, usually",
        "battery lasts, of which 80 % is used",
    ),
    "reasons.md": (
        "time constant at A1, 25 °C",
        "settled to half a step, at 0 °C",
        "what is left of the PWM's ripple",
        "open wire at A1: reading by the leakage of 1 µA",
        "open wire at A1: what is left of water of 40 °C, read before",
        "open R12: until 34 °C reads as too cold",
        "R16 makes it read too low, at 10 °C by",
        "R16 makes it read too low, at 40 °C by",
        "open wiper: reading by the leakage of 1 µA",
        "open wiper: until the reading is no speed",
        "knob: error by R14, at two thirds of its way",
        "gate voltage",
        "charging current of a gate, at most",
        "a turn of the loop",
        "open ground of RV1: reading at least, of full scale",
        "open ground of RV1: speed at least",
        "heat in Q1 at 2 A",
        "of it by switching",
        "Q1 above the air around it, without a heat sink",
        "Q1 with a jammed pump, in air of 40 °C",
        "its heat sink then",
        "Q1 without a heat sink, jammed at 5 A",
        "Q1 without a heat sink, jammed at 6 A",
        "gate empty after reset",
        "heat in D1 at 2 A and half speed",
        "D1 above the air around it",
        "heat in TC1 at 2 A",
        "peak at C5 when Q1 opens",
        "its energy",
        "how long the pump could run from C5",
        "dip at C4 when Q1 closes",
        "C4's time constant with the battery",
        "surge into C4 when J1 is plugged in",
        "the same, for the fuse",
        "current of an LED",
        "at RXD, 5.00 V supply",
        "at RXD, at most",
        "high level at D0: margin",
        "what TXD must sink, where the USB chip has power",
    ),
    "bring-up.md": (
        "A2 to GND, RV1 unplugged",
        "voltage at 25 °C, 5.00 V supply",
        "open ground of RV1: speed at least",
        "jammed current at 6.0 V: at most",
        "the pump stops after",
        "skin: the pump stops below",
        "skin: the pump stops above",
        "gate voltage",
        "power of a dummy load of 47 Ω",
        "current of a dummy load of 47 Ω",
    ),
    "calibration.md": (
        "error by the input's leakage of 1 µA at most, at A1",
        "thermistor at 0 °C",
        "voltage at 0 °C, 5.00 V supply",
        "thermistor at 10 °C",
        "voltage at 10 °C, 5.00 V supply",
        "at 10 °C it reads, as in makers' tables",
        "at 40 °C it reads, as in makers' tables",
        "a bath of 0 °C reads up to",
        "a bath of 10 °C reads up to",
        "a bath of 10 °C reads at least",
        "R16 makes it read too low, at 0 °C by",
        "R16 makes it read too low, at 10 °C by",
        "R16 makes it read too low, at 40 °C by",
        "self-heating at 10 °C in still air",
        "self-heating at 10 °C in water",
        "all three in one direction, at 10 °C",
        "skin when the lower limit trips, by table and self-heating in water",
        "skin when the lower limit trips, by table and self-heating in still air",
        "skin when the lower limit trips, at worst",
        "skin: the pump stops above",
        "skin: the pump stops below",
        "thermistor at 37 °C",
        "voltage at 37 °C, 5.00 V supply",
        "R2 off by its tolerance, at 40 °C",
        "B off by 1 %, at 40 °C",
        "all three in one direction, at 40 °C",
        "one step of the ADC, at 40 °C",
        "power in a thermistor, at most",
        "self-heating in still air",
        "at 0 °C it reads, as in makers' tables",
    ),
}


@dataclasses.dataclass
class Figure:
    """A computed value, with its name, its formula and, if it has one, its limit."""

    #: The name, by which SAYS refers to the figure.
    what: str
    #: The formula, for people.
    how: str
    #: The value with its unit, as the pages must state it.
    text: str
    value: float
    #: The limit in words; empty if there is none.
    limit: str = ""
    #: Whether the value is within the limit.
    holds: bool = True


class Thermistor:
    """A thermistor in the model of the firmware's formula."""

    def __init__(self, nominal: float, beta: float) -> None:
        self.nominal, self.beta = nominal, beta

    def resistance(self, temperature: float) -> float:
        return self.nominal * math.exp(self.beta * (1 / (temperature + KELVIN) - 1 / (25 + KELVIN)))

    def celsius(self, resistance: float) -> float:
        return 1 / (1 / (25 + KELVIN) + math.log(resistance / self.nominal) / self.beta) - KELVIN


class Divider:
    """The divider of the skin's thermistor, R2, R12 and R16, as the ADC measures it and the firmware converts it."""

    def __init__(self, circuit: Circuit, firmware: Firmware) -> None:
        part = circuit.parts
        self.thermistor = Thermistor(part["TH2"].size, firmware.beta)
        self.r2, self.r12, self.r16 = part["R2"].size, part["R12"].size, part["R16"].size
        self.steps = firmware.steps

    def reading(self, resistance: float) -> float:
        """Return the reading at A1, in steps; R16 lowers it a little."""
        pulled = self.r16 / (self.r16 + self.r12 + parallel(resistance, self.r2))
        return self.steps * self.r2 / (self.r2 + resistance) * pulled

    def at(self, temperature: float) -> float:
        """Return the reading at a temperature in °C, in steps."""
        return self.reading(self.thermistor.resistance(temperature))

    def celsius(self, resistance: float) -> float:
        """Return the temperature that the firmware's formula, which ignores R16, yields for this resistance."""
        return self.thermistor.celsius(self.r2 * (self.steps / self.reading(resistance) - 1))

    def tabled(self, temperature: int) -> float:
        """Return the temperature that the firmware yields for a thermistor that follows the makers' table."""
        return self.celsius(TABLE[temperature] * self.thermistor.nominal / 10e3)


def junction(current: float, switching: float, to_air: float) -> float:
    """Return the final temperature of a transistor's junction in a worn box.

    The transistor's resistance grows with its temperature. The result is infinite if the temperature does not settle.
    """
    watts = current ** 2 * ON_RESISTANCE
    growth = to_air * watts * HOT
    return (AMBIENT + to_air * (switching + watts * (1 - 25 * HOT))) / (1 - growth) if growth < 1 else math.inf


def parallel(one: float, other: float) -> float:
    """Return the resistance of two resistors in parallel."""
    return one * other / (one + other)


class Sheet:
    """The figures, in chapters."""

    def __init__(self) -> None:
        self.chapters: dict[str, list[Figure]] = {}
        self._chapter = ""

    def chapter(self, title: str) -> None:
        self._chapter = title
        self.chapters[title] = []

    def add(self, what: str, how: str, value: float, form: str, *, below: tuple[float, str] | None = None,
            above: tuple[float, str] | None = None) -> float:
        """Add a figure to the current chapter; return its value.

        `form` is a format and a factor for the value, such as `{:.1f} mA|1e3`. `below` and `above` are a limit and its
        text.
        """
        pattern, _, scale = form.partition("|")
        text = pattern.format(value * float(scale or 1))
        limit, holds = "", True
        if below:
            limit, holds = f"at most {below[1]}", value <= below[0]
        if above:
            limit, holds = f"at least {above[1]}", value >= above[0]
        self.chapters[self._chapter].append(Figure(what, how, text, value, limit, holds))
        return value

    def figures(self) -> list[Figure]:
        return [figure for figures in self.chapters.values() for figure in figures]


def sheet(circuit: Circuit, firmware: Firmware) -> Sheet:
    """Compute all figures."""
    sheet = Sheet()
    constants(sheet, firmware)
    analogue(sheet, circuit, firmware)
    temperatures(sheet, circuit, firmware)
    power(sheet, circuit, firmware)
    supply(sheet, circuit, firmware)
    ratings(sheet, circuit, firmware)
    pins(sheet, circuit)
    return sheet


def constants(sheet: Sheet, firmware: Firmware) -> None:
    sheet.chapter("Firmware")
    sheet.add("skin: the pump stops below", "`SKIN_LOWEST`", firmware.skin_lowest, "{:.1f} °C")
    sheet.add("skin: the pump stops above", "`SKIN_HIGHEST`", firmware.skin_highest, "{:.1f} °C")
    sheet.add("the pump stops after", "`runLimit`", firmware.run_limit / 60, "{:.0f} minutes")
    sheet.add("the watchdog resets after", "`watchdogTime`", firmware.watchdog, "{:g} s")
    sheet.add("a turn of the loop", "`pauseTime`", firmware.pause, "{:.0f} ms|1e3")
    sheet.add("a turn with a command takes longer by", "`blinkTime`", firmware.blink, "{:.0f} ms|1e3")
    sheet.add("speed after ON", "`startSpeed`", firmware.start_speed, "{:.0f}")
    sheet.add("where the knob counts as standing at the start", "`_taken`", firmware.knob_at_boot, "{:.0f}")
    sheet.add("readings of the knob that are no speed", "below `deadZone`", firmware.dead_zone, "{:.0f}")
    sheet.add("slowest and fastest speed of the knob", "`slowest`, `fastest`", firmware.fastest,
              f"{firmware.slowest:.0f}, {{:.0f}}")
    sheet.add("B of the thermistors", "`beta`", firmware.beta, "{:.0f}")
    sheet.add("a thermistor is open below a reading of", "`lowestSound`", firmware.lowest_sound, "{:.0f}")
    sheet.add("a thermistor is shorted above a reading of", "`highestSound`", firmware.highest_sound, "{:.0f}")


def analogue(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    part = circuit.parts
    thermistor = Thermistor(part["TH2"].size, firmware.beta)
    r2, r12, c2 = part["R2"].size, part["R12"].size, part["C2"].size
    turn = firmware.pause, f"{firmware.pause * 1e3:.0f} ms, a turn of the loop"
    sheet.chapter("Analogue inputs")
    for temperature in (0, 25, 40):
        tau = (parallel(thermistor.resistance(temperature), r2) + r12) * c2
        sheet.add(f"time constant at A1, {temperature} °C", "(TH2 ∥ R2 + R12) × C2", tau, "{:.1f} ms|1e3")
    source = parallel(thermistor.resistance(0), r2) + r12
    sheet.add("settled to half a step, at 0 °C", "ln(2 × 1023) time constants", math.log(2 * firmware.steps) * source * c2,
              "{:.0f} ms|1e3", below=turn)
    source = parallel(thermistor.resistance(25), r2) + r12
    corner = 1 / (2 * math.pi * source * c2)
    sheet.add("corner frequency at A1, 25 °C", "1 / (2π × time constant)", corner, "{:.0f} Hz")
    sheet.add("what is left of the PWM's ripple", "1 / √(1 + (490 Hz / corner)²), C2 low by its tolerance",
              1 / math.sqrt(1 + (PWM_FREQUENCY / corner * (1 - part["C2"].error)) ** 2), "{:.1f} %|100", below=(0.1, "10 %"))
    sheet.add("dip when the ADC samples", "14 pF / C2, in steps of the ADC", SAMPLING_CAPACITOR / c2 * firmware.steps,
              "{:.3f} steps", below=(0.5, "0.5 steps"))
    sheet.add("error by the input's leakage of 1 µA at most, at A1", "1 µA × (TH2 ∥ R2 + R12), in steps",
              INPUT_LEAKAGE * source / SUPPLY * firmware.steps, "{:.1f} steps")
    sheet.add("reading of an open thermistor after one turn", "1023 × e^(−turn / ((R2 + R12) × C2)), at most",
              firmware.steps * math.exp(-firmware.pause / ((r2 + r12) * c2)), "{:.2f} steps",
              below=(firmware.lowest_sound - 1, f"{firmware.lowest_sound - 1:.0f} steps"))
    sheet.add("reading of a shorted thermistor after one turn", "1023 × R16 / (R12 + R16) × (1 − e^(−turn / (R12 × C2)))",
              firmware.steps * part["R16"].size / (r12 + part["R16"].size) * (1 - math.exp(-firmware.pause / (r12 * c2))),
              "{:.0f} steps",
              above=(firmware.highest_sound + 1, f"{firmware.highest_sound + 1:.0f} steps"))
    # The worst case is a wire that breaks just after a reading; a bad reading adds two to the score.
    settled = (r2 + r12) * c2 * math.log(firmware.steps / firmware.lowest_sound)
    readings = math.ceil(firmware.enough / 2)
    line = firmware.longest_line * 10 / firmware.baud
    sheet.add("an open thermistor stops the pump after", "until it reads as open, and three turns, at most",
              settled + readings * firmware.pause, "{:.0f} ms|1e3", below=(0.5, "0.5 s"))
    sheet.add("the same, while each turn has a command to answer", "three turns that blink and say a line too",
              settled + readings * (firmware.pause + firmware.blink + line), "{:.0f} ms|1e3", below=(0.9, "0.9 s"))
    open_inputs(sheet, circuit, firmware)
    knob(sheet, circuit, firmware)


def open_inputs(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    """Add the readings at A1 while its wire or R12 is open. Only R16, to ground, then sets the input's voltage."""
    part = circuit.parts
    divider = Divider(circuit, firmware)
    r16, c2 = part["R16"].size * (1 + part["R16"].error), part["C2"].size * (1 + part["C2"].error)
    lowest = divider.at(firmware.skin_lowest)
    cold = math.floor(lowest) - 1, f"{math.floor(lowest) - 1:.0f} steps, which is too cold"
    sheet.add("open wire at A1: reading by the leakage of 1 µA", "1 µA × R16, by its tolerance, in steps",
              INPUT_LEAKAGE * r16 / SUPPLY * firmware.steps, "{:.0f} steps", below=cold)
    sheet.add("open wire at A1: what is left of water of 40 °C, read before",
              "its reading × e^(−12 µs / (R16 × 14 pF)), at most",
              divider.at(40) * math.exp(-SAMPLING_TIME / (r16 * SAMPLING_CAPACITOR)), "{:.0f} steps", below=cold)
    sheet.add("open R12: until 34 °C reads as too cold", "ln of the readings' ratio × R16 × C2, at most",
              math.log(divider.at(34) / lowest) * r16 * c2, "{:.1f} s", below=(1, "1 s"))


def knob(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    part = circuit.parts
    r13, r14, c3 = part["R13"].size, part["R14"].size, part["C3"].size
    low, rv1 = r14 * (1 - part["R14"].error), part["RV1"].size * (1 + part["RV1"].error)
    sheet.add("open wiper: reading by the leakage of 1 µA", "1 µA × (R14 + R13), in steps",
              INPUT_LEAKAGE * (r14 * (1 + part["R14"].error) + r13) / SUPPLY * firmware.steps, "{:.1f} steps",
              below=(firmware.dead_zone - 1, f"{firmware.dead_zone - 1:.0f} steps"))
    # 390 ms and a turn of the loop are the 0.5 s of bring-up.md.
    sheet.add("open wiper: until the reading is no speed",
              f"ln(1023 / {firmware.dead_zone:.0f}) × (R14 + R13) × C3, at most",
              math.log(firmware.steps / firmware.dead_zone) * (r14 + r13) * c3, "{:.0f} ms|1e3", below=(0.39, "390 ms"))
    sheet.add("A2 to GND, RV1 unplugged", "R14 + R13", r14 + r13, "{:.0f} kΩ|1e-3")
    sag = max(x - x * low / (low + x * (1 - x) * rv1) for x in (step / 1000 for step in range(1001)))
    sheet.add("knob: error by R14, at two thirds of its way", "x − x × R14 / (R14 + x (1 − x) RV1), by their tolerances", sag,
              "{:.1f} %|100", below=(0.05, "5 %"))
    sheet.add("knob: reading at the stop", "the wiper is at +5 V there: R14 does not matter", firmware.steps, "{:.0f}")
    share = low / (low + rv1)
    sheet.add("open ground of RV1: reading at least, of full scale", "R14 / (R14 + RV1), by their tolerances", share,
              "{:.0f} %|100")
    sheet.add("open ground of RV1: speed at least", "of this reading", firmware.speed(share * firmware.steps), "{:.0f}")


def temperatures(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    part = circuit.parts
    divider = Divider(circuit, firmware)
    thermistor, series = divider.thermistor, divider.r2
    sheet.chapter("Temperatures")
    for temperature in (0, 5, 10, 25, 37, 40, 45):
        resistance = thermistor.resistance(temperature)
        sheet.add(f"thermistor at {temperature} °C", "10 kΩ × e^(B (1/T − 1/298.15 K))", resistance, "{:.2f} kΩ|1e-3")
        reading = divider.reading(resistance)
        sheet.add(f"reading at {temperature} °C", "1023 × R2 / (R2 + TH2) × R16 / (R16 + R12 + R2 ∥ TH2)", reading, "{:.0f}")
        sheet.add(f"voltage at {temperature} °C, 5.00 V supply", "5 V / 1023 × the reading", reading / firmware.steps * SUPPLY,
                  "{:.2f} V")
    for temperature in TABLE:
        sheet.add(f"at {temperature} °C it reads, as in makers' tables",
                  f"{TABLE[temperature] / 1e3:g} kΩ, R16 and the firmware's formula", divider.tabled(temperature), "{:.1f} °C")
    for temperature, form in ((0, "{:.1f} °C"), (10, "{:.2f} °C"), (40, "{:.2f} °C")):
        sheet.add(f"R16 makes it read too low, at {temperature} °C by", "the formula, which knows nothing of R16",
                  temperature - divider.celsius(thermistor.resistance(temperature)), form, below=(0.5, "0.5 °C"))
    sheet.add("a bath of 10 °C reads at least", "by B, and R16", divider.celsius(thermistor.resistance(10)), "{:.1f} °C")
    worst = {}
    for celsius in (10, 40):
        at = celsius + KELVIN
        r2, th2 = (part[name].error * at ** 2 / firmware.beta for name in ("R2", "TH2"))
        sheet.add(f"R2 off by its tolerance, at {celsius} °C", "1 % × T² / B", r2, "{:.2f} °C")
        sheet.add(f"thermistor off by its tolerance, at {celsius} °C", "1 % × T² / B", th2, "{:.2f} °C")
        beta = BETA_ERROR * at ** 2 * abs(1 / (25 + KELVIN) - 1 / at)
        sheet.add(f"B off by 1 %, at {celsius} °C", "1 % × T² × |1/298.15 K − 1/T|", beta, "{:.2f} °C")
        worst[celsius] = r2 + th2 + beta
        sheet.add(f"all three in one direction, at {celsius} °C", "the sum", worst[celsius], "{:.2f} °C", below=(1, "1 °C"))
        ratio = series / thermistor.resistance(celsius)
        step = (1 + ratio) ** 2 / ratio / firmware.steps * at ** 2 / firmware.beta
        sheet.add(f"one step of the ADC, at {celsius} °C", "", step, "{:.2f} °C")
    power = max((SUPPLY / (series + resistance)) ** 2 * resistance for resistance in range(1000, 40000, 100))
    sheet.add("power in a thermistor, at most", "(5 V / (R2 + TH2))² × TH2, at TH2 = R2", power, "{:.2f} mW|1e3")
    sheet.add("self-heating in still air", "power / (2 mW/°C)", power / IN_AIR, "{:.2f} °C", below=(0.5, "0.5 °C"))
    sheet.add("self-heating in water", "power / (5.6 mW/°C)", power / IN_WATER, "{:.2f} °C")
    resistance = thermistor.resistance(10)
    power = (SUPPLY / (series + resistance)) ** 2 * resistance
    air = sheet.add("self-heating at 10 °C in still air", "its power there / (2 mW/°C)", power / IN_AIR, "{:.2f} °C")
    water = sheet.add("self-heating at 10 °C in water", "its power there / (5.6 mW/°C)", power / IN_WATER, "{:.2f} °C")
    for bath in (0, 10):
        watts = (SUPPLY / (series + thermistor.resistance(bath))) ** 2 * thermistor.resistance(bath)
        sheet.add(f"a bath of {bath} °C reads up to", "by the table, and self-heating in water",
                  divider.tabled(bath) + watts / IN_WATER, "{:.1f} °C")
    late = divider.tabled(10) - 10
    for around, heating in (("water", water), ("still air", air)):
        sheet.add(f"skin when the lower limit trips, by table and self-heating in {around}",
                  "`SKIN_LOWEST` − what is read too much", firmware.skin_lowest - late - heating, "{:.1f} °C")
    sheet.add("skin when the lower limit trips, at worst", "the same in still air, and all three in this direction",
              firmware.skin_lowest - late - air - worst[10], "{:.1f} °C", above=(8, "8 °C: it is to be above 7 °C, see config.h"))


def power(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    part = circuit.parts
    current, jammed = part["M1"].limit, part["M1"].limit * JAMMED
    sheet.chapter("Pump, transistors, diode")
    sheet.add("jammed pump, assumed", "3 × rated current", jammed, "{:.0f} A")
    sheet.add("jammed current at 6.0 V: at most", "its share of 12.6 V", jammed * 6 / BATTERY_FULL, "{:.1f} A",
              below=(part["PS1"].limit, "what PS1 gives"))
    sheet.add("12.6 V against 6.0 V", "", BATTERY_FULL / 6, "{:.1f}")
    gate = SUPPLY * part["R4"].size / (part["R4"].size + part["R3"].size)
    sheet.add("gate voltage", "5 V × R4 / (R3 + R4)", gate, "{:.2f} V", above=(4.0, "4.0 V"))
    sheet.add("charging current of a gate, at most", "5.25 V / R3, low by its tolerance",
              USB_HIGH / part["R3"].size / (1 - part["R3"].error), "{:.0f} mA|1e3",
              below=(PIN_LIMIT, "40 mA"))
    edge = GATE_CHARGE / ((SUPPLY - GATE_PLATEAU) / part["R3"].size)
    sheet.add("time of an edge", "48 nC × R3 / 2 V", edge, "{:.1f} µs|1e6")
    bare, cooled = JUNCTION_TO_AIR, JUNCTION_TO_SINK + part["HS1"].size
    # At a speed of 254 of 255 Q1 conducts nearly all the time, and still switches.
    switching = 0.5 * BATTERY_FULL * 2 * edge * PWM_FREQUENCY
    above = junction(current, switching * current, bare) - AMBIENT
    sheet.add("heat in Q1 at 2 A", "I² × 35 mΩ, more when warm, and by switching", above / bare, "{:.2f} W")
    sheet.add("of it by switching", "½ × 12.6 V × 2 A × two edges × 490 Hz", switching * current, "{:.2f} W")
    sheet.add("Q1 above the air around it, without a heat sink", "62 °C/W", above, "{:.0f} °C", below=(60, "60 °C"))
    hot = junction(jammed, switching * jammed, cooled)
    sheet.add("Q1 with a jammed pump, in air of 40 °C", "at a speed of 254, HS1 and 1.9 °C/W", hot, "{:.0f} °C",
              below=(JUNCTION_SHOULD, "125 °C"))
    sheet.add("its heat sink then", "HS1", AMBIENT + (hot - AMBIENT) / cooled * part["HS1"].size, "{:.0f} °C")
    sheet.add("Q1 without a heat sink, jammed at 5 A", "62 °C/W", junction(NO_SINK, switching * NO_SINK, bare), "{:.0f} °C",
              below=(JUNCTION_LIMIT, "175 °C"))
    sheet.add("Q1 without a heat sink, jammed at 6 A", "62 °C/W; it fails at 175 °C or later", junction(
        jammed, switching * jammed, bare), "{:.0f} °C")
    sheet.add("gate empty after reset", "3 × R4 × 48 nC / 5 V", 3 * part["R4"].size * GATE_CHARGE / SUPPLY,
              "{:.2f} ms|1e3")
    heat = current * (1 - 0.5) * DIODE_DROP
    sheet.add("heat in D1 at 2 A and half speed", "I × ½ × 0.525 V", heat, "{:.2f} W")
    sheet.add("D1 above the air around it", "40 °C/W", heat * DIODE_TO_AIR, "{:.0f} °C", below=(50, "50 °C"))
    sheet.add("D1's pulses with a jammed pump", "the pump's current", jammed, "{:.0f} A",
              below=(DIODE_SURGE, "80 A"))
    heat = current ** 2 * CUT_OFF_RESISTANCE
    sheet.add("heat in TC1 at 2 A", "I² × 50 mΩ, the most that makers allow", heat, "{:.1f} W")
    spike = current * math.sqrt(CUT_OFF_LEADS / part["C5"].size)
    sheet.add("peak at C5 when Q1 opens", "I × √(2 µH / C5), above 12.6 V", BATTERY_FULL + spike, "{:.1f} V",
              below=(part["D1"].size, "what D1 bears"))
    sheet.add("surge into C5 when TC1 closes", "12.6 V × √(C5 / 2 µH)", BATTERY_FULL * math.sqrt(
        part["C5"].size / CUT_OFF_LEADS), "{:.0f} A")
    sheet.add("its energy", "½ × C5 × (12.6 V)²", 0.5 * part["C5"].size * BATTERY_FULL ** 2, "{:.2f} mJ|1e3")
    sheet.add("how long the pump could run from C5", "C5 × 12.6 V / 2 A", part["C5"].size * BATTERY_FULL / current,
              "{:.0f} µs|1e6")


def supply(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    part = circuit.parts
    thermistor = Thermistor(part["TH2"].size, firmware.beta)
    current, c4 = part["M1"].limit, part["C4"].size
    sheet.chapter("Supply")
    sheet.add("dip at C4 when Q1 closes", "I × √(2 µH / C4)", current * math.sqrt(SUPPLY_INDUCTANCE / c4), "{:.2f} V",
              below=(0.5, "0.5 V"))
    sheet.add("C4's time constant with the battery", "0.25 Ω × C4", LOOP_RESISTANCE * c4, "{:.2f} ms|1e3")
    sheet.add("ripple current of C4, had it to carry all", "I × √(½ × ½)", current * 0.5, "{:.1f} A")
    surge = BATTERY_FULL / LOOP_RESISTANCE
    sheet.add("surge into C4 when J1 is plugged in", "12.6 V / 0.25 Ω", surge, "{:.0f} A")
    sheet.add("the same, for the fuse", "(12.6 V)² × C4 / (2 × 0.25 Ω)", BATTERY_FULL ** 2 * c4 / 2 / LOOP_RESISTANCE,
              "{:.2f} A²s", below=(FUSE_MELTING / 10, "1 A²s, a tenth of what melts F1"))
    sheet.add("F1 against the pump", "F1 / rated current", part["F1"].size / current, "{:.2f}", above=(1.5, "1.5"))
    led = (SUPPLY - LED_DROP) / part["R7"].size
    sheet.add("current of an LED", "(5 V − 2 V) / R7", led, "{:.1f} mA|1e3", below=(PIN_SHOULD, "20 mA"))
    divider = SUPPLY / (part["R9"].size + part["R10"].size)
    thermistors = 2 * SUPPLY / (part["R2"].size + thermistor.resistance(40))
    knob = SUPPLY / part["RV1"].size
    sheet.add("thermistors and knob", "2 × 5 V / (R2 + TH2 at 40 °C) + 5 V / RV1", thermistors + knob, "{:.1f} mA|1e3")
    rail = NANO_CURRENT + HM10_CURRENT + 2 * led + divider + thermistors + knob
    sheet.add("5 V rail, at most", "Nano 30 mA, HM-10 50 mA, LEDs, divider, thermistors, knob", rail, "{:.0f} mA|1e3")
    usual = rail - HM10_CURRENT + 8.5e-3
    sheet.add("5 V rail, HM-10 connected", "the same with 8.5 mA for the HM-10", usual, "{:.0f} mA|1e3")
    for name, load in (("at most", rail), ("usually", usual)):
        heat = (BATTERY_FULL - SUPPLY) * load
        sheet.add(f"heat in the Nano's regulator, {name}", "(12.6 V − 5 V) × 5 V rail", heat, "{:.2f} W")
        sheet.add(f"the regulator in air of 40 °C, {name}", "100 °C/W", AMBIENT + heat * REGULATOR_TO_AIR, "{:.0f} °C",
                  below=(REGULATOR_LIMIT, "125 °C"))
    sheet.add("battery empty: left for the regulator", "9.0 V − 5 V", BATTERY_EMPTY - SUPPLY, "{:.0f} V",
              above=(1.3, "1.3 V"))
    drain = current * firmware.start_speed / 255 + usual
    sheet.add("drain at the speed after ON", "2 A × speed/255 + 5 V rail", drain, "{:.2f} A")
    sheet.add("battery lasts, of which 80 % is used", "0.8 × BT1 / drain", 0.8 * part["BT1"].size / drain * 60,
              "{:.0f} min", above=(firmware.run_limit / 60, f"{firmware.run_limit / 60:.0f} minutes, one run"))
    sheet.add("VIN's current, at most", "the 5 V rail's: its regulator is linear", rail, "{:.0f} mA|1e3",
              below=(part["S3"].limit / 2, "half of what S3 bears, for the surge into the Nano's capacitors"))
    sheet.add("power of a dummy load of 47 Ω", "(12 V)² / 47 Ω", 144 / 47, "{:.1f} W", below=(10, "10 W"))
    sheet.add("current of a dummy load of 47 Ω", "12 V / 47 Ω", 12 / 47, "{:.0f} mA|1e3")


def ratings(sheet: Sheet, circuit: Circuit, firmware: Firmware) -> None:
    """Add the rating of each part that has one, and the least that the circuit requires."""
    part = circuit.parts
    current, jammed = part["M1"].limit, part["M1"].limit * JAMMED
    peak = BATTERY_FULL + current * math.sqrt(CUT_OFF_LEADS / part["C5"].size)
    sheet.chapter("Ratings")

    def bears(reference: str, form: str, least: float, why: str) -> None:
        sheet.add(f"{reference}'s rating", "", part[reference].limit, form, above=(least, why))

    bears("C1", "{:.0f} V", 2 * USB_HIGH, "2 × 5.25 V: nearer to its rating X7R loses capacitance")
    bears("C4", "{:.0f} V", 1.5 * BATTERY_FULL, "1.5 × 12.6 V")
    bears("C5", "{:.0f} V", 1.5 * peak, "1.5 × its peak when Q1 opens")
    bears("Q1", "{:.0f} V", 1.5 * peak, "1.5 × the peak at C5")
    bears("F1", "{:.0f} V", 1.5 * BATTERY_FULL, "1.5 × 12.6 V")
    bears("S2", "{:.0f} A", jammed, "the jammed pump's current")
    bears("BT1", "{:.0f} A", jammed, "the jammed pump's current")
    bears("TC1", "{:.0f} A", part["F1"].size, "F1")
    bears("PS1", "{:.0f} A", 1.25 * current, "1.25 × the pump's current")
    bears("D1", "{:.0f} A", max(current, jammed / 4),
          "the pump's current, and a jammed pump's average at half speed, a quarter of 6 A")


def pins(sheet: Sheet, circuit: Circuit) -> None:
    part = circuit.parts
    r9, r10 = part["R9"], part["R10"]
    sheet.chapter("HM-10")
    sheet.add("at RXD, 5.00 V supply", "5 V × R10 / (R9 + R10)", SUPPLY * r10.size / (r9.size + r10.size), "{:.2f} V")
    high, low = r10.size * (1 + r10.error), r9.size * (1 - r9.error)
    sheet.add("at RXD, at most", "5.25 V, R9 and R10 off by their tolerance", USB_HIGH * high / (low + high), "{:.2f} V",
              below=(HM10_HIGH + HM10_MARGIN, "3.6 V"))
    sheet.add("high level at D0: margin", "3.3 V − 0.6 × 5 V", HM10_HIGH - 0.6 * SUPPLY, "{:.1f} V",
              above=(0.1, "0.1 V"))
    sheet.add("what TXD must sink, where the USB chip has power", "5 V / 1 kΩ on the Nano", SUPPLY / USB_CHIP_RESISTOR,
              "{:.0f} mA|1e3")


def page(sheet: Sheet) -> str:
    """Return the figures, in Markdown."""
    lines: list[str] = []
    for title, figures in sheet.chapters.items():
        lines += [f"## {title}", "", "| what | from | comes to | must be |", "| --- | --- | --- | --- |"]
        lines += [f"| {figure.what} | {figure.how} | {figure.text} | {figure.limit} |" for figure in figures]
        lines.append("")
    return "\n".join(lines).rstrip()
