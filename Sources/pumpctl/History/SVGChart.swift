import RecordFormat

/// A chart as an SVG file: axes with their units, grid lines, and a legend.
struct SVGChart {
    /// Told apart also by those who see few colours (Okabe, Ito 2008).
    private static let colours = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00"]
    private static let (width, panelHeight) = (960.0, 260.0)
    private static let (left, right, top, bottom) = (64.0, 24.0, 44.0, 40.0)
    private static let gap = 48.0
    /// More points than the eye, or a screen, can tell apart.
    private static let mostPoints = 4000

    private let chart: HistoryChart

    init(_ chart: HistoryChart) { self.chart = chart }

    /// The file.
    var text: String {
        let height = Self.top + Self.bottom + Double(chart.panels.count) * (Self.panelHeight + Self.gap) - Self.gap
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(Self.width)) \(Self.number(height))" \
            font-family="sans-serif" font-size="13" fill="#333">
            """, "<title>\(Self.escaped(title))</title>", #"<rect width="100%" height="100%" fill="white"/>"#,
        ]
        for (index, panel) in chart.panels.enumerated() {
            parts += draw(panel, top: Self.top + Double(index) * (Self.panelHeight + Self.gap))
        }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private var title: String {
        let times = [chart.times.lowerBound, chart.times.upperBound].map {
            WallTime(RecordTime(milliseconds: Int64($0 * 1000))).dateAndTime
        }
        return times.joined(separator: " to ")
    }

    private func draw(_ panel: HistoryChart.Panel, top: Double) -> [String] {
        let bottom = top + Self.panelHeight
        var parts: [String] = []
        for tick in panel.ticks.values {
            let y = y(tick, panel.ticks, top)
            parts.append(line(Self.left, y, Self.width - Self.right, y, "#ddd"))
            parts.append(label(panel.ticks.label(tick), x: Self.left - 8, y: y + 4, anchor: "end"))
        }
        for (time, text) in TimeTicks(chart.times, count: 10).ticks {
            parts.append(line(x(time), top, x(time), bottom, "#eee"))
            parts.append(label(text, x: x(time), y: bottom + 18, anchor: "middle"))
        }
        parts.append(line(Self.left, top, Self.left, bottom, "#333"))
        parts.append(line(Self.left, bottom, Self.width - Self.right, bottom, "#333"))
        parts.append(label(panel.unit, x: Self.left - 8, y: top - 16, anchor: "end"))
        var legend = Self.left
        for (index, series) in panel.series.enumerated() {
            let colour = Self.colours[index % Self.colours.count]
            let name = HistoryChart.label(of: series.name)
            parts.append(line(legend, top - 20, legend + 20, top - 20, colour, width: 2))
            parts.append(label(name, x: legend + 26, y: top - 16, anchor: "start"))
            legend += 50 + Double(name.count) * 8
            for points in strokes(series) {
                let text = points.map { "\(Self.number(x($0.0))),\(Self.number(y($0.1, panel.ticks, top)))" }
                parts.append(
                    """
                    <polyline fill="none" stroke="\(colour)" stroke-width="1.5" stroke-linecap="round" \
                    points="\(text.joined(separator: " "))"/>
                    """)
            }
        }
        return parts
    }

    /// The points between the gaps, of which only the lowest and the highest are kept where they lie close together.
    private func strokes(_ series: HistoryChart.Series) -> [[(Double, Double)]] {
        let size = max(1, series.points.count / (Self.mostPoints / 2))
        var strokes: [[(Double, Double)]] = []
        for run in series.points.split(whereSeparator: { $0.value == nil }) {
            var points: [(Double, Double)] = []
            for start in stride(from: run.startIndex, to: run.endIndex, by: size) {
                let part = run[start..<min(start + size, run.endIndex)].map { ($0.time, $0.value ?? 0) }
                guard let low = part.min(by: { $0.1 < $1.1 }), let high = part.max(by: { $0.1 < $1.1 }) else {
                    continue
                }
                points += part.count == 1 ? [low] : [low, high].sorted { $0.0 < $1.0 }
            }
            // A point alone is a dot: a line of no length with a round end.
            strokes.append(points.count == 1 ? points + points : points)
        }
        return strokes
    }

    private func x(_ time: Double) -> Double {
        let share = (time - chart.times.lowerBound) / (chart.times.upperBound - chart.times.lowerBound)
        return Self.left + share * (Self.width - Self.left - Self.right)
    }

    private func y(_ value: Double, _ ticks: Ticks, _ top: Double) -> Double {
        top + (1 - (value - ticks.low) / (ticks.high - ticks.low)) * Self.panelHeight
    }

    private func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String, width: Int = 1
    ) -> String {
        let ends =
            "x1=\"\(Self.number(x1))\" y1=\"\(Self.number(y1))\" x2=\"\(Self.number(x2))\" y2=\"\(Self.number(y2))\""
        return "<line \(ends) stroke=\"\(colour)\" stroke-width=\"\(width)\"/>"
    }

    private func label(_ text: String, x: Double, y: Double, anchor: String) -> String {
        "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\">\(Self.escaped(text))</text>"
    }

    /// To a tenth of a pixel.
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
