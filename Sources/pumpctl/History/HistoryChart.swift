import RecordFormat

/// Values over time, in panels of one unit each, one above the other.
struct HistoryChart {
    /// A value at a time.
    struct Point {
        /// Seconds since 1970-01-01T00:00:00Z.
        var time: Double
        /// Nil where there was a reading without the value: the line is broken there.
        var value: Double?
    }

    /// One value over time.
    struct Series {
        var name: String
        var points: [Point] = []
    }

    /// The values of one unit.
    struct Panel {
        var unit: String
        var series: [Series] = []
        /// From the lowest tick to the highest.
        var ticks: Ticks
    }

    /// Temperatures first, then speed, then what else has numbers where there are none of these.
    let panels: [Panel]
    /// The first and the last time, in seconds; never the same.
    let times: ClosedRange<Double>

    init(_ query: HistoryQuery) throws(Failure) {
        var names: [String] = []
        var columns: [Int] = []
        var series: [Series] = []
        try query.forEachRow { cells throws(Failure) in
            if names.isEmpty {
                names = cells
                columns = Array(names.indices.dropFirst(RecordTable.columns.columns.count))
                series = columns.map { Series(name: names[$0]) }
                return
            }
            guard let time = Double(cells[0]) else { return }
            for (index, column) in columns.enumerated() {
                series[index].points.append(Point(time: time / 1000, value: Double(cells[column])))
            }
        }
        let numeric = series.filter { series in series.points.contains { $0.value != nil } }
        let usual = numeric.filter { ["°C", "%"].contains(Self.unit(of: $0.name)) }
        self.init(usual.isEmpty ? numeric : usual)
        guard !panels.isEmpty else {
            throw Failure(
                .noInput, code: "not_found", "there are no numbers to draw",
                hint: "take a longer time; 'pumpctl history --sessions' shows what there is")
        }
    }

    init(_ series: [Series]) {
        var panels: [Panel] = []
        for series in series {
            let unit = Self.unit(of: series.name)
            if let index = panels.firstIndex(where: { $0.unit == unit }) {
                panels[index].series.append(series)
            } else {
                panels.append(Panel(unit: unit, series: [series], ticks: Ticks(from: 0, to: 1)))
            }
        }
        for index in panels.indices {
            let values = panels[index].series.flatMap(\.points).compactMap(\.value)
            panels[index].ticks = Ticks(from: values.min() ?? 0, to: values.max() ?? 1)
        }
        self.panels = panels.filter { $0.unit == "°C" } + panels.filter { $0.unit != "°C" }
        let all = series.flatMap(\.points).map(\.time)
        let (first, last) = (all.min() ?? 0, all.max() ?? 1)
        times = first...max(last, first + 1)
    }

    /// The unit that a name ends in.
    static func unit(of name: String) -> String {
        switch name.split(separator: "_").last {
        case "c": "°C"
        case "percent": "%"
        case "min": "min"
        case "pwm": "PWM"
        default: ""
        }
    }

    /// A name as people read it, without the unit: `skin_temp_c` is `skin`.
    static func label(of name: String) -> String {
        var words = name.split(separator: "_")
        if words.count > 1, !unit(of: name).isEmpty { words.removeLast() }
        if words.count > 1, words.last == "temp" { words.removeLast() }
        return words.joined(separator: " ")
    }
}

/// Round numbers along an axis.
struct Ticks {
    let values: [Double]
    let step: Double

    /// Some five of them, such that all from `low` to `high` lies between the first and the last.
    init(from low: Double, to high: Double) {
        let span = high > low ? high - low : max(abs(low) * 0.1, 1)
        let raw = span / 4
        let magnitude = Self.power(of: raw)
        let step = [1, 2, 5, 10].map { $0 * magnitude }.first { $0 >= raw } ?? 10 * magnitude
        let first = (low / step).rounded(.down)
        let last = max((high / step).rounded(.up), first + 1)
        self.step = step
        values = (0...Int(last - first)).map { (first + Double($0)) * step }
    }

    var low: Double { values.first ?? 0 }
    var high: Double { values.last ?? 1 }

    /// A tick with no more decimals than its step has.
    func label(_ value: Double) -> String {
        var decimals = 0
        var scaled = step
        while decimals < 9, abs(scaled - scaled.rounded()) > 1e-6 {
            scaled *= 10
            decimals += 1
        }
        guard decimals > 0 else { return "\(Int(value.rounded()))" }
        var factor = 1
        for _ in 0..<decimals { factor *= 10 }
        let units = Int((abs(value) * Double(factor)).rounded())
        let fraction = "\(factor + units % factor)".dropFirst()
        return (value < 0 && units > 0 ? "-" : "") + "\(units / factor).\(fraction)"
    }

    /// The power of ten that is not above `number`.
    private static func power(of number: Double) -> Double {
        var power = 1.0
        while power > number { power /= 10 }
        while power * 10 <= number { power *= 10 }
        return power
    }
}
