import DeviceKit
import LineProtocol
import RecordFormat

/// Values over time, in panels of one unit each, one above the other, and the states of pumps below.
struct HistoryChart {
    /// A value at a time.
    struct Point {
        /// Seconds since 1970-01-01T00:00:00Z.
        var time: Double
        /// Nil where there was a reading without the value, or another session began: the line is broken there.
        var value: Double?
    }

    /// One value over time.
    struct Series {
        var name: String
        /// What it is called in the legend.
        var label: String
        var points: [Point] = []
        /// Which mark and colour it has; no other series of the chart has the same.
        var style = 0

        init(name: String, label: String? = nil, points: [Point]) {
            self.name = name
            self.label = label ?? HistoryChart.label(of: name)
            self.points = points
        }
    }

    /// The values of one unit.
    struct Panel {
        /// The unit; of what has none, the name.
        var unit: String
        var series: [Series] = []
        /// From the lowest tick to the highest.
        var ticks: Ticks
        /// At which the pump stops for safety, in the panel's unit.
        var limit: Double?
    }

    /// Above this temperature of the skin the pump stops, in °C.
    static let skinLimit = 40.0

    /// Which devices, and when.
    let title: String
    /// Temperatures first, then speed, then the others.
    let panels: [Panel]
    /// The state of each pump: 0 off, 1 on, 2 an error.
    let states: [Series]
    /// The first and the last time, in seconds; never the same.
    let times: ClosedRange<Double>

    /// Whether there is nothing to draw.
    var isEmpty: Bool { panels.isEmpty && states.isEmpty }

    init(_ folded: [FoldedSeries]) {
        let devices = ChartDevices(folded)
        var series: [Series] = []
        var states: [Series] = []
        for (family, folded) in Self.byFamily(folded) {
            let named = folded.map { ($0, Self.unit(of: $0.name)) }
            let usual = named.filter { ["°C", "%"].contains($0.1) }
            let isPump = family == Family.pump.name
            // Of a pump, how long it runs still and the PWM are left out: the speed tells that.
            for (folded, _) in isPump && !usual.isEmpty ? usual : named where folded.name != "state" {
                series.append(Series(folded, devices))
            }
            states += folded.filter { $0.name == "state" }.map { Series($0, devices) }
        }
        self.init(series, states: states, devices: devices.all)
    }

    init(_ series: [Series], states: [Series] = [], devices: [String] = []) {
        var panels: [Panel] = []
        for series in series {
            let unit = Self.unit(of: series.name)
            let heading = unit.isEmpty ? Self.label(of: series.name) : unit
            if let index = panels.firstIndex(where: { $0.unit == heading }) {
                panels[index].series.append(series)
            } else {
                panels.append(Panel(unit: heading, series: [series], ticks: Ticks(from: 0, to: 1)))
            }
        }
        panels = panels.filter { $0.unit == "°C" } + panels.filter { $0.unit != "°C" }
        var style = 0
        for index in panels.indices {
            for number in panels[index].series.indices {
                panels[index].series[number].style = style
                style += 1
            }
            panels[index].complete()
        }
        self.panels = panels
        self.states = states
        let all = (series + states).flatMap(\.points).map(\.time)
        let (first, last) = (all.min() ?? 0, all.max() ?? 1)
        times = first...max(last, first + 1)
        let ends = [first, last].map { String(WallTime(secondsSince1970: $0).dateAndTime.prefix(16)) }
        let who = devices.count > 3 ? ["\(devices.count) devices"] : devices.map { $0.cut(to: 24) }
        title = all.isEmpty ? "nothing was recorded" : (who + [ends.joined(separator: " to ")]).joined(separator: ", ")
    }

    /// The series of each family, in the order in which the families came first.
    private static func byFamily(_ folded: [FoldedSeries]) -> [(String, [FoldedSeries])] {
        var families: [String] = []
        for series in folded where !families.contains(series.family) { families.append(series.family) }
        return families.map { family in (family, folded.filter { $0.family == family }) }
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

extension HistoryChart.Panel {
    /// Chooses the ticks for the values, and for the limit where there is one.
    fileprivate mutating func complete() {
        let isSkin = series.contains { $0.name == "skin_temp_c" }
        limit = isSkin ? HistoryChart.skinLimit : nil
        let values = series.flatMap(\.points).compactMap(\.value) + (limit.map { [$0] } ?? [])
        // Yes and no have both ends of their axis.
        let isYesOrNo = values.allSatisfy { $0 == 0 || $0 == 1 }
        ticks = Ticks(from: isYesOrNo ? 0 : values.min() ?? 0, to: isYesOrNo ? 1 : values.max() ?? 1)
    }
}

extension HistoryChart.Series {
    /// A value of a device; its device is in the label where there are several.
    fileprivate init(_ folded: FoldedSeries, _ devices: ChartDevices) {
        let name = HistoryChart.label(of: folded.name)
        // A measurement is known by where it was made.
        var label = folded.part.isEmpty ? name : name == "value" ? folded.part : "\(name) \(folded.part)"
        if devices.isAmbiguous(folded) { label += " (\(devices.name(of: folded)))" }
        var points: [HistoryChart.Point] = []
        for point in folded.points {
            let time = Double(point.time.milliseconds) / 1000
            if point.isFirst, !points.isEmpty { points.append(HistoryChart.Point(time: time)) }
            points.append(HistoryChart.Point(time: time, value: point.value))
        }
        self.init(name: folded.name, label: label.printable(), points: points)
    }
}

/// What the devices of a chart are called: by their endpoints, or, where two were at the same one, by what they are.
private struct ChartDevices {
    private(set) var all: [String] = []
    private var identities: [String: Set<String>] = [:]
    /// How many devices have a value.
    private var count: [String: Int] = [:]

    init(_ folded: [FoldedSeries]) {
        for series in folded { identities[series.endpoint, default: []].insert(series.device ?? series.endpoint) }
        for series in folded { count[series.part + " " + series.name, default: 0] += 1 }
        for series in folded where !all.contains(name(of: series)) { all.append(name(of: series)) }
    }

    /// Whether another device has a value of that name.
    func isAmbiguous(_ series: FoldedSeries) -> Bool { (count[series.part + " " + series.name] ?? 0) > 1 }

    func name(of series: FoldedSeries) -> String {
        let isShared = identities[series.endpoint].map { $0.count > 1 } ?? false
        return (isShared ? series.device ?? series.endpoint : series.endpoint).printable()
    }
}
