/// One value of a device over time, with no more points than a chart can show.
public struct FoldedSeries: Sendable, Hashable {
    /// A value at a time.
    public struct Point: Sendable, Hashable {
        /// When.
        public var time: RecordTime
        /// In the unit that the series' name ends in. Yes is 1, no is 0; of a state, 0 is off, 1 on, 2 an error.
        public var value: Double
        /// Whether nothing joins it to the point before: the value was missing between, or another session began.
        public var isFirst: Bool

        /// A point.
        public init(time: RecordTime, value: Double, isFirst: Bool) {
            self.time = time
            self.value = value
            self.isFirst = isFirst
        }
    }

    /// The device's family.
    public var family: String
    /// The endpoint that the device was at last.
    public var endpoint: String
    /// What tells the device from others; nil where the carrier does not say.
    public var device: String?
    /// Which part of the device, as in `pipe 1 port 2 point 3`; empty for all of it.
    public var part: String
    /// The value's name, its unit at the end.
    public var name: String
    /// The points, the earliest first.
    public var points: [Point]

    /// A series.
    public init(family: String, endpoint: String, device: String?, part: String, name: String, points: [Point]) {
        self.family = family
        self.endpoint = endpoint
        self.device = device
        self.part = part
        self.name = name
        self.points = points
    }

    var fields: [String] {
        [family, endpoint].map(JSONText.quoted) + [device.map(JSONText.quoted) ?? "null"]
            + [part, name].map(JSONText.quoted)
            + [points.map { "\($0.isFirst ? "!" : "")\($0.time.milliseconds)=\($0.value)" }.joined(separator: " ")]
    }

    init?(fields: ArraySlice<Substring>) {
        let texts = fields.dropLast().map { JSONText.unquoted($0) }
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
