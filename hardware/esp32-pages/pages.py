"""Check that a sketch's pages, drawing and build files agree with each other and with computed numbers."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "wiring"))
from drawing import Drawing  # noqa: E402

UNITS = {"": 1.0, "k": 1e3, "n": 1e-9}


class Pages:
    """The files of one sketch's folder, and the faults found in them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.faults = []
        self.checks = 0

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def check(self, holds, fault):
        """Count a check, and record the fault unless the check holds."""
        self.checks += 1
        if not holds:
            self.faults.append(fault)

    def says(self, name, *phrases):
        """Check that the page contains each phrase.

        Line breaks in the page do not matter, and a phrase is not found as a part of another number.
        """
        page = " ".join(self.text(name).split())
        for phrase in phrases:
            found = re.search(rf"(?<![\w.]){re.escape(phrase)}(?!\w|\.\d)", page)
            self.check(found is not None, f"{name} does not say: {phrase}")

    def find(self, name, pattern):
        """Return the text of the pattern's first group; if the file has no match, record a fault and return ""."""
        match = re.search(pattern, self.text(name))
        self.check(match is not None, f"{name} has nothing like {pattern}")
        return match.group(1) if match else ""

    def table(self, name, heading):
        """Return the rows of the table below a heading, without its two header lines."""
        section = self.text(name).split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
        rows = [line for line in section.splitlines() if line.startswith("|")]
        return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]

    def parts(self, name):
        """Return the description of each part, by name, from the table `Parts`."""
        return {part: row[1] for row in self.table(name, "Parts") for part in row[0].split(", ") if part}

    def nets(self, name):
        """Return the pins of each net, such as `U1.IO32` and `R11.2`, by the net's name, from the table `Nets`."""
        return {
            row[0].strip("`"): [re.sub("[ -]", ".", pin, count=1) for pin in row[1].split(", ")]
            for row in self.table(name, "Nets")
        }

    def drawn(self, name, parts, nets, labels):
        """Check a drawing against the tables.

        It must join exactly the pins of each net, and show each part's name and value, and the pin labels of the
        modules.
        """
        drawing = Drawing(self.text(name))
        shown = drawing.nets()
        wanted = {frozenset(pins): net for net, pins in nets.items()}
        for fault in drawing.faults:
            self.check(False, f"{name}: {fault}")
        for pins in sorted(map(sorted, shown - wanted.keys())):
            self.check(False, f"{name} joins {', '.join(pins)}, which is no net")
        for pins, net in wanted.items():
            self.check(pins in shown, f"{name} lacks the net {net}: {', '.join(sorted(pins))}")
        for net, pins in drawing.symbol_nets.items():
            self.check(pins <= set(nets.get(net, ())), f"{name} has the symbol of {net} at {', '.join(sorted(pins))}")
        words = " ".join(" ".join(drawing.texts).split())
        for word in [*parts, *labels]:
            self.check(re.search(rf"\b{re.escape(word)}\b", words), f"{name} does not show {word}")
        for part, what in re.findall(r"\b([A-Z]+\d+) (\d[\d.]* [kMmµn]?[ΩF])", words):
            self.check(parts.get(part, "").split(", ")[0] == what, f"{name} says {part} {what}")

    def same_core(self, core):
        """Check the version of the Arduino core in both build files and in the README.

        platformio.ini names the release of the platform that has this core: 55.03.35 has core 3.3.5.
        """
        self.check(f"esp32:esp32 ({core})" in self.text("sketch.yaml"), f"sketch.yaml does not name core {core}")
        _, minor, patch = core.split(".")
        release = f"55.03.{minor}{patch}"
        self.check(f"/{release}/" in self.text("platformio.ini"), f"platformio.ini does not name release {release}")
        self.says("README.md", core)

    def conclude(self):
        """Print the faults, and exit: with 1 if there are any."""
        for fault in self.faults:
            print(f"{self.folder.name}: {fault}")
        print(f"{self.checks} numbers and names, {len(self.faults)} wrong")
        sys.exit(1 if self.faults else 0)


def value(text):
    """Return `12 kΩ, 1 %` as 12000.0, and `100 nF` as 1e-7."""
    number, unit = re.match(r"([\d.]+) ?([kn]?)[ΩF]", text).groups()
    return float(number) * UNITS[unit]
