"""Read the nets of a drawing from the ends of its lines, as a person with a ruler would.

A part is an element with `data-part`. Its pins are the circles of class `term` with `data-pin`, in the element itself
or in the symbol that it uses; `data-pins="K A"` on the use renames a symbol's pins 1, 2, … in this order. A symbol with
`data-net` and a `term` (ground, +5 V) joins everything that it touches to this net.

Conductors are paths of class `wire` made of straight lines. Ends and pins that meet are joined. If three of them meet,
or if one of them is on the middle of a wire, a dot (`#dot`) is required. Wires that cross without a dot are not joined.

On a breadboard everything that ends within one `rect` of class `strip` is joined: a row of holes, a terminal. There a
wire's middle touches nothing, and no dots are needed.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]
Line = tuple[Point, Point]


class Joined:
    """Disjoint sets of things that are joined: points, pins, nets and strips."""

    def __init__(self) -> None:
        self.parents: dict[object, object] = {}

    def find(self, thing: object) -> object:
        parent = self.parents.setdefault(thing, thing)
        if parent == thing:
            return thing
        root = self.find(parent)
        self.parents[thing] = root
        return root

    def join(self, one: object, other: object) -> None:
        self.parents[self.find(one)] = self.find(other)


def shift(element: ElementTree.Element) -> Point:
    """Return the translation of an element; (0, 0) if it has none."""
    match = re.fullmatch(r"translate\((-?[\d.]+)[ ,](-?[\d.]+)\)", element.get("transform", "translate(0 0)"))
    if not match:
        raise ValueError(f"only translate() can be read, not {element.get('transform')}")
    return float(match[1]), float(match[2])


def corners(data: str) -> list[list[Point]]:
    """Return the runs of straight lines of a path that has only M, L, H and V."""
    runs: list[list[Point]] = []
    x = y = 0.0
    for command, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", data):
        numbers = [float(word) for word in re.findall(r"-?[\d.]+", text)]
        if command == "H":
            x = numbers[0]
        elif command == "V":
            y = numbers[0]
        elif command in "ML":
            x, y = numbers
        else:
            raise ValueError(f"a wire has straight lines only: {data}")
        if command == "M":
            runs.append([])
        runs[-1].append((x, y))
    return runs


def within(point: Point, line: Line) -> bool:
    """Return whether a point is on a line, but not at one of its ends."""
    (x, y), ((ax, ay), (bx, by)) = point, line
    if point in line:
        return False
    length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
    distance = abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length
    return distance < 0.5 and (x - ax) * (bx - ax) + (y - ay) * (by - ay) > 0 < (x - bx) * (ax - bx) + (y - by) * (ay - by)


class Drawing:
    """The content of a drawing; `faults` lists what can't be read."""

    def __init__(self, text: str) -> None:
        self.pins: dict[str, list[Point]] = {}
        self.named: list[tuple[str, Point]] = []
        self.runs: list[list[Point]] = []
        self.dots: list[Point] = []
        self.strips: list[tuple[float, float, float, float]] = []
        self.texts: list[str] = []
        self.faults: list[str] = []
        #: The pins joined by each net's symbols; set by `nets`.
        self.symbol_nets: dict[str, set[str]] = {}
        root = ElementTree.fromstring(text)
        self.symbols = {group.get("id", ""): group for defs in root.iter(SVG + "defs") for group in defs}
        self._walk(root, (0, 0))

    def _walk(self, element: ElementTree.Element, origin: Point) -> None:
        if element.tag == SVG + "defs":
            return
        dx, dy = shift(element)
        origin = origin[0] + dx, origin[1] + dy
        kinds = element.get("class", "").split()
        if element.tag == SVG + "use":
            self._use(element, origin)
        elif element.get("data-part"):
            self._terms(element.get("data-part", ""), element, origin, [])
        if element.tag == SVG + "path" and "wire" in kinds:
            for run in corners(element.get("d", "")):
                self.runs.append([(x + origin[0], y + origin[1]) for x, y in run])
        if element.tag == SVG + "rect" and "strip" in kinds:
            x, y, width, height = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
            self.strips.append((x + origin[0], y + origin[1], x + origin[0] + width, y + origin[1] + height))
        if element.tag == SVG + "text":
            self.texts.append("".join(element.itertext()))
        for child in element:
            self._walk(child, origin)

    def _use(self, element: ElementTree.Element, origin: Point) -> None:
        place = origin[0] + float(element.get("x", "0")), origin[1] + float(element.get("y", "0"))
        name = element.get("href", "").lstrip("#")
        symbol = self.symbols[name]
        if name == "dot":
            self.dots.append(place)
        elif symbol.get("data-net"):
            self.named += [(symbol.get("data-net", ""), point) for _, point in self._circles(symbol, place)]
        elif element.get("data-part"):
            self._terms(element.get("data-part", ""), symbol, place, element.get("data-pins", "").split())

    def _terms(self, part: str, element: ElementTree.Element, origin: Point, names: list[str]) -> None:
        """Add the pins of a part. `names`, if not empty, renames the pins 1, 2, … of a symbol."""
        for name, point in self._circles(element, origin):
            self.pins.setdefault(f"{part}.{names[int(name) - 1] if names else name}", []).append(point)

    @staticmethod
    def _circles(element: ElementTree.Element, origin: Point) -> list[tuple[str, Point]]:
        return [
            (circle.get("data-pin", ""), (origin[0] + float(circle.get("cx", "0")), origin[1] + float(circle.get("cy", "0"))))
            for circle in element.iter(SVG + "circle") if "term" in circle.get("class", "").split()]

    def nets(self) -> set[frozenset[str]]:
        """Return the sets of joined pins, and add the errors of the drawing to `faults`."""
        joined = Joined()
        lines = [(run, line) for run in self.runs for line in zip(run, run[1:])]
        ends = [end for run in self.runs for end in (run[0], run[-1])]
        points = [point for places in self.pins.values() for point in places]
        touching = ends + points + [point for _, point in self.named]
        for run in self.runs:
            joined.join(run[0], run[-1])
        self.faults += [f"a wire at {x:g}, {y:g} has no length" for run, ((x, y), end) in lines if (x, y) == end]
        lines = [(run, line) for run, line in lines if line[0] != line[1]]
        if self.strips:
            self._join_strips(joined, touching)
        else:
            self._join_crossings(joined, touching, lines)
        for net, point in self.named:
            joined.join(("net", net), point)
        for pin, places in self.pins.items():
            if len(places) > 1:
                self.faults.append(f"{pin} is drawn {len(places)} times")
            joined.join(("pin", pin), places[0])
        for point in touching:
            alone = touching.count(point) == 1 and not self.strips
            if alone and not any(within(point, line) for _, line in lines):
                self.faults.append(f"nothing meets the end at {point[0]:g}, {point[1]:g}")
        groups: dict[object, set[str]] = {}
        for pin in self.pins:
            groups.setdefault(joined.find(("pin", pin)), set()).add(pin)
        self.symbol_nets = {net: groups.get(joined.find(("net", net)), set()) for net, _ in self.named}
        return {frozenset(group) for group in groups.values()}

    def _join_strips(self, joined: Joined, touching: list[Point]) -> None:
        """Join the points in each strip of a breadboard; record holes with two leads, and ends that meet nothing."""
        for point in touching:
            x, y = point
            inside = [strip for strip in self.strips if strip[0] <= x <= strip[2] and strip[1] <= y <= strip[3]]
            if inside:
                joined.join(("strip", inside[0]), point)
                if touching.count(point) > 1:
                    self.faults.append(f"two leads in the hole at {x:g}, {y:g}")
            elif touching.count(point) < 2:
                self.faults.append(f"nothing meets the end at {x:g}, {y:g}")

    def _join_crossings(self, joined: Joined, touching: list[Point], lines: list[tuple[list[Point], Line]]) -> None:
        """Join the wires at each dot; record missing and superfluous dots, and wires that lie on one another."""
        for dot in self.dots:
            passing = [run for run, line in lines if within(dot, line)]
            bends = [run for run in self.runs if dot in run[1:-1]]
            for run in passing + bends:
                joined.join(dot, run[0])
            if 2 * len(passing + bends) + touching.count(dot) < 3:
                self.faults.append(f"the dot at {dot[0]:g}, {dot[1]:g} joins nothing")
        for point in set(touching):
            if touching.count(point) > 2 and point not in self.dots:
                self.faults.append(f"three meet at {point[0]:g}, {point[1]:g}, where there is no dot")
            on = [run for run, line in lines if within(point, line)]
            on += [run for run in self.runs if point in run[1:-1]]
            if on and point not in self.dots:
                self.faults.append(f"something ends on a wire at {point[0]:g}, {point[1]:g}, where there is no dot")
        for index, (run, line) in enumerate(lines):
            for other, another in lines[index + 1:]:
                if run is not other and parallel(line, another) and within(middle(another), line):
                    self.faults.append(f"two wires lie on one another at {another[0][0]:g}, {another[0][1]:g}")


def middle(line: Line) -> Point:
    """Return the point halfway between the ends of a line."""
    return (line[0][0] + line[1][0]) / 2, (line[0][1] + line[1][1]) / 2


def parallel(one: Line, other: Line) -> bool:
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    return abs((bx - ax) * (dy - cy) - (by - ay) * (dx - cx)) < 1e-6
