internal import StrictJSON

/// A series of values of a device over time, reduced to as many points as a chart can show.
public struct FoldedSeries: Sendable, Hashable {
    /// A value at a time.
    public struct Point: Sendable, Hashable {
        /// The time of the value.
        public var time: RecordTime
        /// The value, in the unit at the end of the series' name. True is 1, false is 0; of a state, 0 is off, 1 is on,
        /// 2 is error.
        public var value: Double
        /// Whether a line of the chart begins here: the value was missing since the previous point, or another session
        /// began.
        public var isFirst: Bool

        /// Creates a point.
        ///
        /// - Parameters:
        ///   - time: The time of the value.
        ///   - value: The value, in the unit at the end of the series' name.
        ///   - isFirst: Whether a line of the chart begins here.
        public init(time: RecordTime, value: Double, isFirst: Bool) {
            self.time = time
            self.value = value
            self.isFirst = isFirst
        }
    }

    /// The device's family.
    public var family: String
    /// The endpoint of the device at the last point of the series, for people.
    public var endpoint: String
    /// The identity of the device, such as `usb:0403:6001/A50285BI`; nil if unknown.
    public var device: String?
    /// The part of the device, such as `pipe 1 port 2 point 3`; empty for the whole device.
    public var part: String
    /// The name of the value, which ends with its unit.
    public var name: String
    /// The points, earliest first.
    public var points: [Point]

    /// Creates a series.
    ///
    /// - Parameters:
    ///   - family: The device's family.
    ///   - endpoint: The last endpoint of the device.
    ///   - device: The identity of the device; nil if unknown.
    ///   - part: The part of the device; empty for the whole device.
    ///   - name: The name of the value, which ends with its unit.
    ///   - points: The points, earliest first.
    public init(family: String, endpoint: String, device: String?, part: String, name: String, points: [Point]) {
        self.family = family
        self.endpoint = endpoint
        self.device = device
        self.part = part
        self.name = name
        self.points = points
    }

    /// The fields of the line of ``Answer/series(_:)``: five JSON values, and the points, separated by spaces. A point
    /// is `MILLISECONDS=VALUE`, with `!` before it if a line of the chart begins there.
    var fields: [String] {
        [family, endpoint].map(JSONValue.quoted) + [device.map(JSONValue.quoted) ?? "null"]
            + [part, name].map(JSONValue.quoted)
            + [points.map { "\($0.isFirst ? "!" : "")\($0.time.milliseconds)=\($0.value)" }.joined(separator: " ")]
    }

    /// Parses the fields of a line; nil if they are no series. A malformed point is left out.
    init?(fields: ArraySlice<Substring>) {
        let texts = fields.dropLast().map { JSONValue.text(of: $0) }
        guard texts.count == 5, let family = texts[0], let endpoint = texts[1], let part = texts[3],
            let name = texts[4], let last = fields.last
        else { return nil }
        let points = last.split(separator: " ").compactMap { word -> Point? in
            let halves = word.split(separator: "=")
            guard halves.count == 2, let value = Double(halves[1]) else { return nil }
            let isFirst = word.first == "!"
            guard let milliseconds = Int64(isFirst ? halves[0].dropFirst() : halves[0]) else { return nil }
            return Point(time: RecordTime(milliseconds: milliseconds), value: value, isFirst: isFirst)
        }
        self.init(family: family, endpoint: endpoint, device: texts[2], part: part, name: name, points: points)
    }
}
