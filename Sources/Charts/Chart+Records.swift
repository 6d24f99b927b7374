internal import LineProtocol
public import RecordFormat

extension Chart {
    /// A chart of what was recorded: the value `state` of a device is a band, each other one a line.
    ///
    /// - Parameters:
    ///   - folded: The values.
    ///   - limits: By a value's name, as in `skin_temp_c`, at what something happens.
    ///   - naming: What people call a value of a family, and its unit; nil where nothing is known of it, and its name tells:
    ///     `skin_temp_c` is `skin`, in °C.
    public init(
        _ folded: [FoldedSeries], limits: [String: Limit] = [:],
        naming: (_ family: String, _ name: String) -> (label: String, unit: String?)? = { _, _ in nil }
    ) {
        let devices = ChartDevices(folded)
        // Those of a family stand together, in the order in which the families came first.
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

extension Chart.Series {
    /// A value of a device; its device is in the label where there are several.
    fileprivate init(
        _ folded: FoldedSeries, _ name: String, unit: String, _ devices: ChartDevices, _ limit: Chart.Limit?
    ) {
        // A measurement is known by where it was made.
        var label = folded.part.isEmpty ? name : name == "value" ? folded.part : "\(name) \(folded.part)"
        if devices.isAmbiguous(folded) { label += " (\(devices.name(of: folded)))" }
        var points: [Chart.Point] = []
        for point in folded.points {
            let time = point.time.secondsSince1970
            if point.isFirst, !points.isEmpty { points.append(Chart.Point(time: time)) }
            points.append(Chart.Point(time: time, value: point.value))
        }
        self.init(name, label: label.printable(), unit: unit, points: points, limit: limit)
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
