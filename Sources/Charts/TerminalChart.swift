public import Terminal

extension Chart {
    /// Returns the lines of the chart for a terminal, from the top. One row is left free for the shell.
    ///
    /// - Parameters:
    ///   - size: The size of the terminal.
    ///   - isColoured: Whether lines are also distinguished by colour.
    ///   - rest: The text that replaces the end of a legend that is too long.
    public func lines(
        in size: TerminalSize, isColoured: Bool, rest: String = "… more are not listed"
    ) -> [String] {
        TerminalChart(self, isColoured: isColoured, size, rest: rest).lines
    }

    /// Returns the number of value columns in a terminal. More points are not visible.
    ///
    /// - Parameter size: The size of the terminal.
    public static func columns(in size: TerminalSize) -> Int { TerminalChart.width(size) }
}

/// A chart that fills the terminal.
struct TerminalChart {
    /// The marks, one for each series. Series beyond their number reuse marks, and differ only by colour.
    private static let marks = Array("*o+x#%@&=~$abcdefghijklmnpqrstuvwyz")
    /// The terminal's colour codes (ECMA-48 SGR), one for each series.
    private static let colours = [31, 36, 33, 35, 32, 34]
    /// The marks for the states off, on and error.
    private static let states: [(mark: Character, word: String, colour: Int)] = [
        ("░", "off", 90), ("█", "on", 32), ("!", "error", 31),
    ]
    /// The minimum, default and maximum height of a panel in rows. The default is for a terminal of unknown height.
    private static let (leastHeight, usualHeight, mostHeight) = (4, 12, 40)
    /// The maximum height of a legend in rows; more would leave no room for the chart.
    private static let mostLegend = 6
    /// The width of the labels at the left axis, in columns.
    private static let margin = 7

    private let chart: Chart
    private let isColoured: Bool
    private let width: Int
    /// The height of the terminal in rows; nil if unknown.
    private let rows: Int?
    private let rest: String

    /// The number of columns for values in a terminal.
    static func width(_ size: TerminalSize) -> Int { max(1, size.columns - margin - 1) }

    init(_ chart: Chart, isColoured: Bool, _ size: TerminalSize, rest: String) {
        self.chart = chart
        self.isColoured = isColoured
        width = Self.width(size)
        rows = size.rows
        self.rest = rest
    }

    /// All lines, from the top.
    var lines: [String] {
        let legends = chart.panels.map(legend)
        let states = chart.states.flatMap(lines(ofStates:))
        // The rows of the title, the legends, the states and the time axis, and a last row that is free for the shell.
        let taken = 1 + legends.reduce(0) { $0 + $1.count } + states.count + 2 + 1
        let height = rows.map { ($0 - taken) / max(1, chart.panels.count) } ?? Self.usualHeight
        let panels = zip(chart.panels, legends).flatMap { panel, legend in
            legend + lines(of: panel, height: min(max(height, Self.leastHeight), Self.mostHeight))
        }
        return [chart.title.cut(to: width + Self.margin + 1)] + panels + states + timeAxis
    }

    /// The unit and the legend, on at most ``mostLegend`` lines.
    private func legend(_ panel: Chart.Panel) -> [String] {
        var lines = [Self.right(panel.unit.cut(to: Self.margin - 1)) + " "]
        var used = 0
        var entries = panel.series.map { (coloured(Self.mark($0), $0), $0.label) }
        if let limit = panel.limit {
            entries.append((coloured("-", 31), "\(limit.meaning) \(panel.ticks.label(limit.value))"))
        }
        for (mark, name) in entries {
            // An entry takes its label and up to 5 columns: a gap of 3, the mark, and a space.
            let label = name.cut(to: width - 3)
            if used > 0, used + label.columns + 5 > width {
                lines.append(String(repeating: " ", count: Self.margin + 1))
                used = 0
            }
            lines[lines.count - 1] += (used > 0 ? "   " : " ") + "\(mark) \(label)"
            used += label.columns + 5
        }
        guard lines.count > Self.mostLegend else { return lines }
        return lines.prefix(Self.mostLegend - 1) + [
            String(repeating: " ", count: Self.margin + 1) + rest.cut(to: width)
        ]
    }

    /// The lines of a panel. A mark covers all rows from the lowest to the highest value of a column; a later series
    /// covers an earlier one.
    private func lines(of panel: Chart.Panel, height: Int) -> [String] {
        var cells = [[String?]](repeating: [String?](repeating: nil, count: width), count: height)
        func row(of value: Double) -> Int {
            let share = (value - panel.ticks.low) / (panel.ticks.high - panel.ticks.low)
            return height - 1 - Int((share * Double(height - 1)).rounded())
        }
        if let limit = panel.limit { cells[row(of: limit.value)] = .init(repeating: coloured("-", 31), count: width) }
        for series in panel.series {
            let mark = coloured(Self.mark(series), series)
            for (column, values) in ranges(of: series).enumerated() {
                guard let values else { continue }
                for row in row(of: values.upperBound)...row(of: values.lowerBound) { cells[row][column] = mark }
            }
        }
        var labels = [Int: String]()
        // If there are fewer rows than ticks, keep the label of the limit.
        for tick in panel.ticks.values where labels[row(of: tick)] == nil || tick == panel.limit?.value {
            labels[row(of: tick)] = panel.ticks.label(tick)
        }
        return cells.enumerated().map { row, cells in
            let text = cells.map { $0 ?? " " }.joined()
            return Self.right(labels[row] ?? "") + (labels[row] == nil ? "│" : "┤") + text
        }
    }

    /// The lowest and highest value in each column; nil for a column without values.
    private func ranges(of series: Chart.Series) -> [ClosedRange<Double>?] {
        var ranges = [ClosedRange<Double>?](repeating: nil, count: width)
        for point in series.points {
            guard let value = point.value else { continue }
            let range = ranges[column(point.time)] ?? value...value
            ranges[column(point.time)] = min(range.lowerBound, value)...max(range.upperBound, value)
        }
        return ranges
    }

    /// The lines of a state band. A column shows its most serious state.
    private func lines(ofStates series: Chart.Series) -> [String] {
        var cells = [Int?](repeating: nil, count: width)
        var last: (column: Int, state: Int)?
        for point in series.points {
            guard let state = point.value.map({ Int($0) }), Self.states.indices.contains(state) else {
                last = nil
                continue
            }
            let column = column(point.time)
            if let last {
                for between in last.column..<max(last.column, column) where cells[between] == nil {
                    cells[between] = last.state
                }
            }
            cells[column] = max(cells[column] ?? state, state)
            last = (column, state)
        }
        let legend = Self.states.reversed().map { coloured("\($0.mark)", $0.colour) + " \($0.word)" }
        let text = cells.map { cell in
            cell.map { coloured("\(Self.states[$0].mark)", Self.states[$0].colour) } ?? " "
        }
        // A line has 8 columns more than the cells, and 34 columns stand before the label.
        let name = series.label == "state" ? "" : "   " + series.label.cut(to: max(0, width - 26))
        return [
            Self.right("state") + "  " + legend.joined(separator: "   ") + name, Self.right("") + "│" + text.joined(),
        ]
    }

    private func column(_ time: Double) -> Int {
        let span = chart.times.upperBound - chart.times.lowerBound
        return min(width - 1, max(0, Int((time - chart.times.lowerBound) / span * Double(width))))
    }

    private var timeAxis: [String] {
        var axis = [Character](repeating: "─", count: width)
        var labels = [Character](repeating: " ", count: width + Self.margin + 1)
        // A label has at most 10 characters, a date; 14 columns leave space between two labels.
        for (time, label) in TimeTicks(chart.times, count: max(1, width / 14)).ticks {
            axis[column(time)] = "┬"
            let start = Self.margin + 1 + column(time) - label.count / 2
            guard start >= 0, start + label.count <= labels.count else { continue }
            labels.replaceSubrange(start..<(start + label.count), with: label)
        }
        while labels.last == " " { labels.removeLast() }
        return [String(repeating: " ", count: Self.margin) + "└" + String(axis), String(labels)]
    }

    private static func mark(_ series: Chart.Series) -> String { "\(marks[series.style % marks.count])" }

    private func coloured(_ text: String, _ series: Chart.Series) -> String {
        coloured(text, Self.colours[series.style % Self.colours.count])
    }

    private func coloured(_ text: String, _ colour: Int) -> String {
        isColoured ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }

    private static func right(_ text: String) -> String {
        String(repeating: " ", count: max(0, margin - 1 - text.columns)) + text + " "
    }
}
