internal import RecordFormat
internal import Terminal

/// A chart of values over time, in one panel for each unit, with the states of devices below.
///
/// ```swift
/// let chart = Chart(try RecordQuery.series(columns: Chart.svgColumns, filter))
/// print(chart.svg)
/// ```
public struct Chart: Sendable {
    /// A value at a time.
    public struct Point: Sendable, Hashable {
        /// The time in seconds since 1970-01-01T00:00:00Z.
        public var time: Double
        /// The value; nil for a gap in the line, because a reading lacked the value or another session began.
        public var value: Double?

        /// Creates a point.
        ///
        /// - Parameters:
        ///   - time: The time in seconds since 1970-01-01T00:00:00Z.
        ///   - value: The value; nil for a gap in the line.
        public init(time: Double, value: Double? = nil) {
            self.time = time
            self.value = value
        }
    }

    /// A value at which a device reacts, such as by stopping. It is drawn as a line.
    public struct Limit: Sendable, Hashable {
        /// The value, in the unit of its series.
        public var value: Double
        /// The text before the value in the legend, such as `stops above`.
        public var meaning: String

        /// Creates a limit.
        ///
        /// - Parameters:
        ///   - value: The value, in the unit of its series.
        ///   - meaning: The text before the value in the legend, such as `stops above`.
        public init(_ value: Double, meaning: String) {
            self.value = value
            self.meaning = meaning
        }
    }

    /// A series of values over time.
    public struct Series: Sendable {
        /// The measured quantity; the heading of its panel if there is no unit.
        public var quantity: String
        /// The name in the legend.
        public var label: String
        /// The unit as readable text; empty for none. Series with the same unit share a panel.
        public var unit: String
        /// The points, earliest first.
        public var points: [Point]
        /// A value at which the device reacts; nil for none.
        public var limit: Limit?
        /// The index of the mark and colour, which is unique within the chart.
        var style = 0

        /// Creates a series.
        ///
        /// - Parameters:
        ///   - quantity: The measured quantity.
        ///   - label: The name in the legend; nil for the quantity.
        ///   - unit: The unit; empty for none.
        ///   - points: The points, earliest first.
        ///   - limit: A value at which the device reacts; nil for none.
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

    /// A panel with the series of one unit.
    struct Panel {
        /// The unit; the quantity if there is no unit.
        var unit: String
        var series: [Series] = []
        /// The ticks of the value axis, which cover all values and the limit.
        var ticks = Ticks(from: 0, to: 1)
        /// The first limit among the series; nil if no series has one.
        var limit: Limit?
    }

    /// The title, with the devices and the time range.
    let title: String
    /// The panels, temperatures first.
    let panels: [Panel]
    /// The states of devices: 0 is off, 1 is on, 2 is error.
    let states: [Series]
    /// The time range in seconds since 1970-01-01T00:00:00Z, at least 1 s long.
    let times: ClosedRange<Double>

    /// Whether there is nothing to draw.
    public var isEmpty: Bool { panels.isEmpty && states.isEmpty }

    /// Creates a chart.
    ///
    /// - Parameters:
    ///   - series: The values. Series with the same unit share a panel, and the panel in °C is at the top.
    ///   - states: The states of devices, each drawn as a band: 0 is off, 1 is on, 2 is error.
    ///   - devices: The names of the devices for the title.
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
        // Dates and times to the minute. Long names are cut, and more than three are only counted, so that the title
        // fits.
        let ends = [first, last].map { String(RecordTime(secondsSince1970: $0).dateAndTime.prefix(16)) }
        let who = devices.count > 3 ? ["\(devices.count) devices"] : devices.map { $0.cut(to: 24) }
        title = all.isEmpty ? "nothing was recorded" : (who + [ends.joined(separator: " to ")]).joined(separator: ", ")
    }
}

extension Chart.Panel {
    /// Chooses the ticks for the values and the limit.
    fileprivate mutating func complete() {
        limit = series.lazy.compactMap(\.limit).first
        let values = series.flatMap(\.points).compactMap(\.value) + (limit.map { [$0.value] } ?? [])
        // Values that are all 0 or 1 are taken for Boolean values, whose axis always shows both.
        let isYesOrNo = values.allSatisfy { $0 == 0 || $0 == 1 }
        ticks = Ticks(from: isYesOrNo ? 0 : values.min() ?? 0, to: isYesOrNo ? 1 : values.max() ?? 1)
    }
}
