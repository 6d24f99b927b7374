internal import Terminal

extension Chart {
    /// The chart as an SVG file: axes with their units, grid lines, legends, and the states as bands.
    public var svg: String { SVGChart(self).text }

    /// The number of value columns in an SVG chart, in pixels. More points are not visible.
    public static var svgColumns: Int { SVGChart.columns }
}

/// A chart as an SVG file.
struct SVGChart {
    /// Colours that people with colour blindness can distinguish (Okabe, Ito 2008).
    private static let colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9"]
    /// The dash patterns, for series beyond the number of colours.
    private static let dashes = ["", "7 3", "2 3", "9 3 2 3"]
    private static let limitColour = "#d55e00"
    /// The states off, on and error.
    private static let states = [("off", "#dddddd"), ("on", "#009e73"), ("error", "#d55e00")]
    private static let (width, panelHeight) = (960.0, 220.0)
    private static let (left, right) = (64.0, 48.0)
    private static let (lineHeight, bandHeight) = (20.0, 14.0)
    /// The space between panels.
    private static let gap = 16.0
    /// The assumed width of a character, in pixels; hardly any character is wider.
    private static let characterWidth = 8.0
    /// The number of value columns, in pixels.
    static let columns = Int(width - left - right)

    private let chart: Chart

    init(_ chart: Chart) { self.chart = chart }

    /// The contents of the SVG file.
    var text: String {
        var page = Page(y: 28)
        page.add(label(chart.title, x: Self.left, y: page.y, anchor: "start", more: " font-size=\"15\""))
        for panel in chart.panels { draw(panel, on: &page) }
        for series in chart.states { draw(states: series, on: &page) }
        let size = "\(Self.number(Self.width)) \(Self.number(page.y + 12))"
        let head = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" font-family="sans-serif" font-size="13" fill="#333">
            """, "<title>\(Self.escaped(chart.title))</title>", #"<rect width="100%" height="100%" fill="white"/>"#,
        ]
        return (head + page.parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func draw(_ panel: Chart.Panel, on page: inout Page) {
        var entries = panel.series.map { ($0.label, stroke($0) + " stroke-width=\"2\"") }
        if let limit = panel.limit {
            entries.append(("\(limit.meaning) \(panel.ticks.label(limit.value)) \(panel.unit)", Self.limit))
        }
        drawLegend(panel.unit, entries, on: &page)
        let (top, bottom) = (page.y + Self.gap, page.y + Self.gap + Self.panelHeight)
        for tick in panel.ticks.values {
            let y = y(tick, panel.ticks, top)
            page.add(line(Self.left, y, Self.width - Self.right, y, "stroke=\"#ddd\""))
            page.add(label(panel.ticks.label(tick), x: Self.left - 8, y: y + 4, anchor: "end"))
        }
        drawTimes(top, bottom, on: &page)
        page.add(line(Self.left, top, Self.left, bottom, "stroke=\"#333\""))
        page.add(line(Self.left, bottom, Self.width - Self.right, bottom, "stroke=\"#333\""))
        if let limit = panel.limit {
            let y = y(limit.value, panel.ticks, top)
            page.add(line(Self.left, y, Self.width - Self.right, y, Self.limit))
        }
        for series in panel.series {
            for points in Self.strokes(series) {
                let text = points.map { "\(Self.number(x($0.0))),\(Self.number(y($0.1, panel.ticks, top)))" }
                page.add(
                    """
                    <polyline fill="none" \(stroke(series)) stroke-width="1.5" stroke-linecap="round" \
                    points="\(text.joined(separator: " "))"/>
                    """)
            }
        }
        page.y = bottom + Self.lineHeight
    }

    /// Draws the unit and the legend, in as many rows as necessary.
    private func drawLegend(_ unit: String, _ entries: [(label: String, style: String)], on page: inout Page) {
        page.y += Self.gap + Self.lineHeight
        page.add(label(unit, x: Self.left - 8, y: page.y, anchor: "end"))
        var x = Self.left
        for entry in entries {
            // A line of 20 pixels, a space of 6, and the label.
            let width = 26 + Double(entry.label.columns) * Self.characterWidth
            if x > Self.left, x + width > Self.width - Self.right {
                x = Self.left
                page.y += Self.lineHeight
            }
            page.add(line(x, page.y - 4, x + 20, page.y - 4, entry.style))
            page.add(label(entry.label, x: x + 26, y: page.y, anchor: "start"))
            x += width + 16
        }
    }

    private func drawTimes(_ top: Double, _ bottom: Double, on page: inout Page) {
        for (time, text) in TimeTicks(chart.times, count: 9).ticks {
            page.add(line(x(time), top, x(time), bottom, "stroke=\"#eee\""))
            page.add(label(text, x: x(time), y: bottom + 18, anchor: "middle"))
        }
    }

    /// Draws states as a band. Off is grey, so that it differs from a time without records.
    private func draw(states series: Chart.Series, on page: inout Page) {
        let entries = Self.states.reversed().map { ($0.0, "stroke=\"\($0.1)\" stroke-width=\"10\"") }
        let name = series.label == "state" ? [] : [(series.label, "stroke=\"none\"")]
        drawLegend("state", name + entries, on: &page)
        page.y += Self.gap / 2
        var run: (from: Double, to: Double, state: Int)?
        func finishRun() {
            guard let run, Self.states.indices.contains(run.state) else { return }
            let (from, width) = (x(run.from), max(1, x(run.to) - x(run.from)))
            page.add(
                """
                <rect x="\(Self.number(from))" y="\(Self.number(page.y))" width="\(Self.number(width))" \
                height="\(Self.number(Self.bandHeight))" fill="\(Self.states[run.state].1)"/>
                """)
        }
        for point in series.points {
            let state = point.value.map { Int($0) }
            if state != nil { run?.to = point.time }
            if let current = run, current.state == state { continue }
            finishRun()
            run = state.map { (point.time, point.time, $0) }
        }
        finishRun()
        page.y += Self.bandHeight
    }

    /// The runs of points between gaps.
    private static func strokes(_ series: Chart.Series) -> [[(Double, Double)]] {
        series.points.split(whereSeparator: { $0.value == nil }).map { run in
            let points = run.map { ($0.time, $0.value ?? 0) }
            // A single point becomes a dot: a line of length 0 with a round end.
            return points.count == 1 ? points + points : points
        }
    }

    private func stroke(_ series: Chart.Series) -> String {
        let dash = Self.dashes[series.style / Self.colours.count % Self.dashes.count]
        return "stroke=\"\(Self.colours[series.style % Self.colours.count])\""
            + (dash.isEmpty ? "" : " stroke-dasharray=\"\(dash)\"")
    }

    private static let limit = "stroke=\"\(limitColour)\" stroke-dasharray=\"4 4\""

    private func x(_ time: Double) -> Double {
        let share = (time - chart.times.lowerBound) / (chart.times.upperBound - chart.times.lowerBound)
        return Self.left + share * (Self.width - Self.left - Self.right)
    }

    private func y(_ value: Double, _ ticks: Ticks, _ top: Double) -> Double {
        top + (1 - (value - ticks.low) / (ticks.high - ticks.low)) * Self.panelHeight
    }
}

/// The elements drawn so far, from the top.
private struct Page {
    var parts: [String] = []
    /// The lower edge of the drawn part, in pixels.
    var y: Double

    init(y: Double) { self.y = y }

    mutating func add(_ part: String) { parts.append(part) }
}

extension SVGChart {
    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) -> String {
        let ends =
            "x1=\"\(Self.number(x1))\" y1=\"\(Self.number(y1))\" x2=\"\(Self.number(x2))\" y2=\"\(Self.number(y2))\""
        return "<line \(ends) \(style)/>"
    }

    private func label(_ text: String, x: Double, y: Double, anchor: String, more: String = "") -> String {
        let place = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\"\(more)"
        return "<text \(place)>\(Self.escaped(text))</text>"
    }

    /// Formats a number, rounded to a tenth.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
