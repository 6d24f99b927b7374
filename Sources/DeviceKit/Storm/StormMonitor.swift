public import LineProtocol
public import RecordFormat
public import Transports

/// Follows the live rows of a storm sensor, and reconnects if the link is lost. The rows that the monitor misses before
/// it has reconnected are in the sensor's log.
public typealias StormMonitor = LinkFollowing<StormLiveRow>

extension StormMonitor {
    /// Follows the rows that arrive from now on.
    ///
    /// - Parameters:
    ///   - link: See ``init(over:_:listen:)``.
    ///   - reconnector: See ``init(over:_:listen:)``.
    ///   - characteristic: The characteristic that the links carry; see ``Transports/Endpoint/stormCharacteristic``.
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

/// A live row of a storm sensor: the sensor sends a measurement as it is made.
public struct StormLiveRow: Sendable, Hashable {
    /// The row as the sensor wrote it, without its prefix and line end.
    public let bytes: [UInt8]
    /// The time of arrival.
    public let time: RecordTime
    /// The measurement in the row; nil if the row is none.
    public let measurement: StormMeasurement?
    /// Whether the end of the row may be missing, because the row fills its packet.
    public let mayBeCut: Bool

    /// Creates a row from the bytes that arrived at `time`.
    public init(_ bytes: [UInt8], at time: RecordTime, mayBeCut: Bool = false) {
        self.bytes = bytes
        self.time = time
        self.mayBeCut = mayBeCut
        measurement = StormMeasurement(row: bytes)
    }
}

extension StormLiveRow {
    /// The columns of a table of measurements.
    public static let columns = ["time", "pipe", "port", "point", "value"]

    /// The row as cells of a table, in the order of ``columns``. The time is in ISO 8601, and the other cells are as
    /// the sensor wrote them. Nil if the row is no measurement.
    public var cells: [String]? {
        measurement.map { [time.iso8601, $0.pipe, $0.port, $0.point, $0.valueText] }
    }
}

extension StormLiveRow: Encodable {
    private enum CodingKeys: String, CodingKey { case time, row, pipe, port, point, value }

    /// Encodes an object with `time`, in ISO 8601, and `row`. A measurement also has `pipe`, `port`, `point` and
    /// `value`, which is null if the value is no finite number.
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
    /// Records a live row: a measurement as a reading, any other row as an event.
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
    /// Records an event of a sensor.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - endpoint: The endpoint of the sensor, for the new session that begins when the sensor is back.
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
    /// The endpoint for the raw measurements of the same BLE sensor: live rows without a prefix, over a characteristic
    /// of their own. Other endpoints lead to the characteristic that carries the log, and live rows with a prefix.
    public var rawMeasurements: Endpoint { adding("profile", GATTProfile.stormLive.name) }

    /// The characteristic that links to this endpoint carry.
    public var stormCharacteristic: StormCharacteristic {
        options["profile"] == GATTProfile.stormLive.name ? .live : .backup
    }
}
