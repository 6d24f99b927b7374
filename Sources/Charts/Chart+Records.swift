internal import LineProtocol
public import RecordFormat

extension Chart {
    /// Creates a chart of recorded values. The value `state` of a device is shown as a band, each other value as a
    /// line.
    ///
    /// - Parameters:
    ///   - folded: The values.
    ///   - limits: Limits to draw, by the value's name, such as `skin_temp_c`.
    ///   - naming: The label and unit of a family's value; nil if unknown. By default both are derived from the name:
    ///     `skin_temp_c` is `skin`, in °C.
    public init(
        _ folded: [FoldedSeries], limits: [String: Limit] = [:],
        naming: (_ family: String, _ name: String) -> (label: String, unit: String?)? = { _, _ in nil }
    ) {
        let devices = ChartDevices(folded)
        // Keep the series of a family together, with the families in order of first occurrence.
        var families: [String] = []
        for series in folded where !families.contains(series.family) { families.append(series.family) }
        let all = families.flatMap { family in folded.filter { $0.family == family } }
        func series(_ folded: FoldedSeries) -> Series {
            let known = folded.name == "state" ? nil : naming(folded.family, folded.name)
            return Series(
                folded, known?.label ?? Chart.label(of: folded.name),
                unit: known.map { $0.unit ?? "" } ?? Chart.unit(of: folded.name), devices, limits[folded.name])
        }
        self.init(
            all.filter { $0.name != "state" }.map(series), states: all.filter { $0.name == "state" }.map(series),
            devices: devices.all)
    }

    /// The unit at the end of a name, as readable text; empty if there is none.
    static func unit(of name: String) -> String {
        switch name.split(separator: "_").last {
        case "c": "°C"
        case "percent": "%"
        case "min": "min"
        case "pwm": "PWM"
        default: ""
        }
    }

    /// A name as readable text, without the unit: `skin` for `skin_temp_c`.
    static func label(of name: String) -> String {
        var words = name.split(separator: "_")
        if words.count > 1, !unit(of: name).isEmpty { words.removeLast() }
        if words.count > 1, words.last == "temp" { words.removeLast() }
        return words.joined(separator: " ")
    }
}

extension Chart.Series {
    /// Creates a series. The label contains the device if several devices have the value.
    fileprivate init(
        _ folded: FoldedSeries, _ name: String, unit: String, _ devices: ChartDevices, _ limit: Chart.Limit?
    ) {
        // A value that is only called `value` is labelled with the part of the device where it was measured.
        var label = folded.part.isEmpty ? name : name == "value" ? folded.part : "\(name) \(folded.part)"
        if devices.isAmbiguous(folded) { label += " (\(devices.name(of: folded)))" }
        var points: [Chart.Point] = []
        for point in folded.points {
            let time = point.time.secondsSince1970
            // The line begins again at this point: leave a gap before it.
            if point.isFirst, !points.isEmpty { points.append(Chart.Point(time: time)) }
            points.append(Chart.Point(time: time, value: point.value))
        }
        self.init(name, label: label.printable(), unit: unit, points: points, limit: limit)
    }
}

/// The names of a chart's devices: their endpoints, or their identities if several used the same endpoint.
private struct ChartDevices {
    private(set) var all: [String] = []
    private var identities: [String: Set<String>] = [:]
    /// The number of devices with each value, by its part and name.
    private var count: [String: Int] = [:]

    init(_ folded: [FoldedSeries]) {
        for series in folded { identities[series.endpoint, default: []].insert(series.device ?? series.endpoint) }
        for series in folded { count[series.part + " " + series.name, default: 0] += 1 }
        for series in folded where !all.contains(name(of: series)) { all.append(name(of: series)) }
    }

    /// Whether another device has a value of the same name and part.
    func isAmbiguous(_ series: FoldedSeries) -> Bool { (count[series.part + " " + series.name] ?? 0) > 1 }

    func name(of series: FoldedSeries) -> String {
        let isShared = identities[series.endpoint].map { $0.count > 1 } ?? false
        return (isShared ? series.device ?? series.endpoint : series.endpoint).printable()
    }
}
