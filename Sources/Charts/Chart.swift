internal import RecordFormat
internal import Terminal

/// Values over time, in panels of one unit each, one above the other, and states below.
///
/// ```swift
/// let chart = Chart(try RecordQuery.series(columns: Chart.svgColumns, filter))
/// print(chart.svg)
/// ```
public struct Chart: Sendable {
    /// A value at a time.
    public struct Point: Sendable, Hashable {
        /// Seconds since 1970-01-01T00:00:00Z.
        public var time: Double
        /// Nil where the line is broken: there was a reading without the value, or another session began.
        public var value: Double?

        /// A point.
        public init(time: Double, value: Double? = nil) {
            self.time = time
            self.value = value
        }
    }

    /// A value at which something happens; it is drawn as a line of its own.
    public struct Limit: Sendable, Hashable {
        /// Where, in the unit of its series.
        public var value: Double
        /// What a legend says before the value: `stops above`.
        public var meaning: String

        /// A limit.
        public init(_ value: Double, meaning: String) {
            self.value = value
            self.meaning = meaning
        }
    }

    /// One value over time.
    public struct Series: Sendable {
        /// What is measured; the heading of its panel where there is no unit.
        public var quantity: String
        /// What it is called in the legend.
        public var label: String
        /// As people write it; empty where there is none. Series of one unit share a panel.
        public var unit: String
        /// The earliest first.
        public var points: [Point]
        /// A value at which something happens.
        public var limit: Limit?
        /// Which mark and colour it has; no other series of the chart has the same.
        var style = 0

        /// A series, whose label is the quantity unless it has another.
        public init(
            _ quantity: String, label: String? = nil, unit: String = "", points: [Point], limit: Limit? = nil
        ) {
            self.quantity = quantity
            self.label = label ?? quantity
            self.unit = unit
            self.points = points
            self.limit = limit
        }
    }

    /// The values of one unit.
    struct Panel {
        /// The unit; of what has none, the quantity.
        var unit: String
        var series: [Series] = []
        /// From the lowest tick to the highest.
        var ticks = Ticks(from: 0, to: 1)
        var limit: Limit?
    }

    /// Which devices, and when.
    let title: String
    /// Temperatures first.
    let panels: [Panel]
    /// 0 off, 1 on, 2 an error.
    let states: [Series]
    /// The first and the last time, in seconds; never the same.
    let times: ClosedRange<Double>

    /// Whether there is nothing to draw.
    public var isEmpty: Bool { panels.isEmpty && states.isEmpty }

    /// A chart of values.
    ///
    /// - Parameters:
    ///   - series: The values; those in °C stand above.
    ///   - states: What devices were, each a band: 0 off, 1 on, 2 an error.
    ///   - devices: What the title names.
    public init(_ series: [Series], states: [Series] = [], devices: [String] = []) {
        var panels: [Panel] = []
        for series in series {
            let heading = series.unit.isEmpty ? series.quantity : series.unit
            if let index = panels.firstIndex(where: { $0.unit == heading }) {
                panels[index].series.append(series)
            } else {
                panels.append(Panel(unit: heading, series: [series]))
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
        let ends = [first, last].map { String(RecordTime(secondsSince1970: $0).dateAndTime.prefix(16)) }
        let who = devices.count > 3 ? ["\(devices.count) devices"] : devices.map { $0.cut(to: 24) }
        title = all.isEmpty ? "nothing was recorded" : (who + [ends.joined(separator: " to ")]).joined(separator: ", ")
    }
}

extension Chart.Panel {
    /// Chooses the ticks for the values, and for the limit where there is one.
    fileprivate mutating func complete() {
        limit = series.lazy.compactMap(\.limit).first
        let values = series.flatMap(\.points).compactMap(\.value) + (limit.map { [$0.value] } ?? [])
        // Yes and no have both ends of their axis.
        let isYesOrNo = values.allSatisfy { $0 == 0 || $0 == 1 }
        ticks = Ticks(from: isYesOrNo ? 0 : values.min() ?? 0, to: isYesOrNo ? 1 : values.max() ?? 1)
    }
}
