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

extension Endpoint {
    /// The same BLE sensor's raw measurements, for which it has a characteristic beside that of its log and its live rows.
    public var rawMeasurements: Endpoint { adding("profile", GATTProfile.stormLive.name) }

    /// Which of a storm sensor's characteristics a link to here carries.
    public var stormCharacteristic: StormCharacteristic {
        options["profile"] == GATTProfile.stormLive.name ? .live : .backup
    }
}
