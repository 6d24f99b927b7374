import Glibc
import RecordFormat

/// A chart in the terminal, as wide as that is.
struct TerminalChart {
    private static let marks: [Character] = ["*", "o", "+", "x", "#"]
    private static let colours = [31, 36, 33, 35, 32]
    private static let height = 12
    /// For the numbers at the left axis.
    private static let margin = 7

    private let chart: HistoryChart
    private let output: Output
    private let width: Int

    init(_ chart: HistoryChart, _ output: Output) {
        var size = winsize()
        let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let columns = isTerminal ? Int(size.ws_col) : getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? 80
        self.init(chart, output, columns: columns)
    }

    init(_ chart: HistoryChart, _ output: Output, columns: Int) {
        self.chart = chart
        self.output = output
        // Less has no room for a time at the axis.
        width = max(columns, 30) - Self.margin - 1
    }

    func draw() { for line in lines { output.text(line) } }

    /// All lines, from the top.
    var lines: [String] { chart.panels.flatMap(lines) + timeAxis }

    private func lines(of panel: HistoryChart.Panel) -> [String] {
        var cells = [[Int?]](repeating: [Int?](repeating: nil, count: width), count: Self.height)
        for (index, series) in panel.series.enumerated() {
            for (column, values) in ranges(of: series).enumerated() {
                guard let values else { continue }
                for row in row(of: values.upperBound, panel.ticks)...row(of: values.lowerBound, panel.ticks) {
                    cells[row][column] = index
                }
            }
        }
        var labels = [Int: String]()
        for tick in panel.ticks.values { labels[row(of: tick, panel.ticks)] = panel.ticks.label(tick) }
        let legend = panel.series.enumerated().map { index, series in
            coloured("\(Self.marks[index % Self.marks.count])", index) + " \(HistoryChart.label(of: series.name))"
        }
        return [Self.right(panel.unit) + "  " + legend.joined(separator: "   ")]
            + cells.enumerated().map { row, cells in
                let text = cells.map { index in
                    index.map { coloured("\(Self.marks[$0 % Self.marks.count])", $0) } ?? " "
                }.joined()
                return Self.right(labels[row] ?? "") + (labels[row] == nil ? "│" : "┤") + text
            }
    }

    /// The lowest and the highest value in each column.
    private func ranges(of series: HistoryChart.Series) -> [ClosedRange<Double>?] {
        var ranges = [ClosedRange<Double>?](repeating: nil, count: width)
        let span = chart.times.upperBound - chart.times.lowerBound
        for point in series.points {
            guard let value = point.value else { continue }
            let column = min(width - 1, Int((point.time - chart.times.lowerBound) / span * Double(width)))
            let range = ranges[column] ?? value...value
            ranges[column] = min(range.lowerBound, value)...max(range.upperBound, value)
        }
        return ranges
    }

    private func row(of value: Double, _ ticks: Ticks) -> Int {
        let share = (value - ticks.low) / (ticks.high - ticks.low)
        return Self.height - 1 - Int((share * Double(Self.height - 1)).rounded())
    }

    private var timeAxis: [String] {
        var axis = [Character](repeating: "─", count: width)
        var labels = [Character](repeating: " ", count: width + Self.margin + 1)
        let span = chart.times.upperBound - chart.times.lowerBound
        for (time, label) in TimeTicks(chart.times, count: max(1, width / 14)).ticks {
            let column = min(width - 1, Int((time - chart.times.lowerBound) / span * Double(width)))
            axis[column] = "┬"
            let start = Self.margin + 1 + column - label.count / 2
            guard start >= 0, start + label.count <= labels.count else { continue }
            labels.replaceSubrange(start..<(start + label.count), with: label)
        }
        while labels.last == " " { labels.removeLast() }
        return [String(repeating: " ", count: Self.margin) + "└" + String(axis), String(labels)]
    }

    private func coloured(_ text: String, _ index: Int) -> String {
        guard output.isColoured else { return text }
        return "\u{1B}[\(Self.colours[index % Self.colours.count])m\(text)\u{1B}[0m"
    }

    private static func right(_ text: String) -> String {
        String(repeating: " ", count: max(0, margin - 1 - text.count)) + text + " "
    }
}
