/// The measurements and the log of a storm sensor, for any carrier.
///
/// The log is read block by block, so that a log of any length needs only the memory of one block. A reading returns
/// the log as it was when the reading began.
package struct StormStore: Sendable {
    /// The number of rows that are read from the flash at once, about 4 KiB. The protocol states neither this number
    /// nor ``blockTime``: both are choices of the simulation.
    static let blockRows = 256
    /// The time that reading a block takes.
    package static let blockTime = Duration.microseconds(250)

    /// The measurements.
    package let log: StormLog
    private var interval: Duration?
    /// The number of stored rows.
    package private(set) var rowCount: Int
    /// The instant of the next periodic measurement; nil for never.
    package private(set) var measurementDue: Duration?
    /// The rows that the current reading has yet to return.
    private var unread = 0..<0

    package init(_ options: StormFirmwareOptions) {
        log = StormLog(seed: options.seed)
        interval = options.interval
        rowCount = options.rows
        measurementDue = options.interval
    }

    /// Measures and stores a row. Returns the row without a line end.
    package mutating func measure(at instant: Duration) -> [UInt8] {
        var row: [UInt8] = []
        log.append(row: rowCount, to: &row)
        rowCount += 1
        measurementDue = interval.map { instant + $0 }
        return row
    }

    /// Changes the interval between periodic measurements from now on; nil for none.
    package mutating func setInterval(_ interval: Duration?, at instant: Duration) {
        self.interval = interval
        measurementDue = interval.map { instant + $0 }
    }

    /// Whether the current reading has rows left.
    package var isReading: Bool { !unread.isEmpty }
    /// Whether a reading has begun, and has returned no row yet.
    var isAtFirstRow: Bool { isReading && unread.lowerBound == 0 }

    /// Begins to read the log from its first row.
    package mutating func beginReading() { unread = 0..<rowCount }

    /// Returns the next block of the log, each row with a line feed; empty if the reading has ended.
    package mutating func readBlock() -> [UInt8] {
        let block = unread.prefix(Self.blockRows)
        unread = block.endIndex..<unread.endIndex
        return log.text(rows: block)
    }

    /// Ends the current reading.
    package mutating func stopReading() { unread = 0..<0 }

    /// Resets the store with its board: a reading ends, and the next measurement follows after one interval.
    package mutating func reset(at instant: Duration) {
        stopReading()
        measurementDue = interval.map { instant + $0 }
    }
}
