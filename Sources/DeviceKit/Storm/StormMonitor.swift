public import LineProtocol
public import RecordFormat
public import Transports

/// Follows what a storm sensor measures, through losses of its link. What it measures meanwhile is in its log.
public typealias StormMonitor = LinkFollowing<StormLiveRow>

extension StormMonitor {
    /// The rows that arrive from now on.
    ///
    /// - Parameters:
    ///   - link: As of ``init(over:_:listen:)``, as is `reconnector`.
    ///   - characteristic: What the links carry; see ``Transports/Endpoint/stormCharacteristic``.
    public convenience init(
        over link: any Link, _ reconnector: Reconnector, from characteristic: StormCharacteristic = .backup
    ) {
        self.init(over: link, reconnector) { link in
            var rows = StormLiveRows(over: link, from: characteristic).makeAsyncIterator()
            return {
                guard let bytes = try await rows.next() else { return nil }
                return StormLiveRow(bytes, at: .now, mayBeCut: rows.mayBeCut)
            }
        }
    }
}

/// A live row of a storm sensor, read once for all who use it.
public struct StormLiveRow: Sendable, Hashable {
    /// As the sensor wrote it, without a line end.
    public let bytes: [UInt8]
    /// When it came.
    public let time: RecordTime
    /// What it says; nil where it is no measurement.
    public let measurement: StormMeasurement?
    /// Whether its end may be missing: it has filled its packet.
    public let mayBeCut: Bool

    /// A row that came at `time`.
    public init(_ bytes: [UInt8], at time: RecordTime, mayBeCut: Bool = false) {
        self.bytes = bytes
        self.time = time
        self.mayBeCut = mayBeCut
        measurement = StormMeasurement(row: bytes)
    }
}

extension StormLiveRow {
    /// What a table of measurements has, column by column.
    public static let columns = ["time", "pipe", "port", "point", "value"]

    /// The row as that of a table, in the order of ``columns``: the time by ISO 8601, the rest as the sensor wrote it. Nil
    /// where it is no measurement.
    public var cells: [String]? {
        measurement.map { [time.iso8601, $0.pipe, $0.port, $0.point, $0.valueText] }
    }
}

extension StormLiveRow: Encodable {
    private enum CodingKeys: String, CodingKey { case time, row, pipe, port, point, value }

    /// As an object of `time`, by ISO 8601, and `row`, and where it is a measurement `pipe`, `port`, `point` and `value`, which
    /// is null where it is no finite number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time.iso8601, forKey: .time)
        try container.encode(bytes.printable(), forKey: .row)
        guard let measurement else { return }
        try container.encode(measurement.pipe, forKey: .pipe)
        try container.encode(measurement.port, forKey: .port)
        try container.encode(measurement.point, forKey: .point)
        try container.encode(measurement.value.isFinite ? measurement.value : nil, forKey: .value)
    }
}

extension Recording {
    /// Records a live row: a measurement as a reading, anything else as an event.
    public func record(_ row: StormLiveRow) {
        guard let measurement = row.measurement else {
            return record(.event(kind: "row", text: row.bytes.printable()), at: row.time)
        }
        var reading = Reading()
        reading.add("pipe", measurement.pipe)
        reading.add("port", measurement.port)
        reading.add("point", measurement.point)
        reading.add("value", measurement.value)
        record(.reading(kind: "live", reading), at: row.time)
    }
}

extension Recording {
    /// Records what comes about at a sensor.
    ///
    /// - Parameter endpoint: Where it is: a new session begins once it is back.
    public func record(_ event: StormMonitor.Element, at endpoint: Endpoint) {
        switch event {
        case .heard(let row): record(row)
        case .lost(let error):
            record(.error(code: "lost", text: "\(error)"))
            endSession("lost")
        case .back: beginSession(at: endpoint)
        }
    }
}

extension Endpoint {
    /// The same BLE sensor's raw measurements, for which it has a characteristic beside that of its log and its live rows.
    public var rawMeasurements: Endpoint { adding("profile", GATTProfile.stormLive.name) }

    /// Which of a storm sensor's characteristics a link to here carries.
    public var stormCharacteristic: StormCharacteristic {
        options["profile"] == GATTProfile.stormLive.name ? .live : .backup
    }
}
