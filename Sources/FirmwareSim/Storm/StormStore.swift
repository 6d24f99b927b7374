/// What a storm sensor measures, stores and reads out again, whatever that is told over.
///
/// The log is read block by block, so that a log of any length takes no more memory than a block. What is read is the log
/// as it was when the reading began.
package struct StormStore: Sendable {
    /// How many rows are read from the flash at once.
    static let blockRows = 256
    /// How long that takes.
    package static let blockTime = Duration.microseconds(250)

    package let log: StormLog
    private var interval: Duration?
    package private(set) var rowCount: Int
    /// When it measures next; nil for never.
    package private(set) var measurementDue: Duration?
    /// The rows of a reading that are still to be read.
    private var unread = 0..<0

    package init(_ options: StormFirmwareOptions) {
        log = StormLog(seed: options.seed)
        interval = options.interval
        rowCount = options.rows
        measurementDue = options.interval
    }

    /// Measures and stores; returns the row, without a line end.
    package mutating func measure(at instant: Duration) -> [UInt8] {
        var row: [UInt8] = []
        log.append(row: rowCount, to: &row)
        rowCount += 1
        measurementDue = interval.map { instant + $0 }
        return row
    }

    /// Measures at other times from now on.
    package mutating func setInterval(_ interval: Duration?, at instant: Duration) {
        self.interval = interval
        measurementDue = interval.map { instant + $0 }
    }

    /// Whether rows are still to be read.
    package var isReading: Bool { !unread.isEmpty }
    /// Whether none of them was read yet.
    var isAtFirstRow: Bool { isReading && unread.lowerBound == 0 }

    /// Begins to read the log, from its first row on.
    package mutating func beginReading() { unread = 0..<rowCount }

    /// Reads the next block.
    package mutating func readBlock() -> [UInt8] {
        let block = unread.prefix(Self.blockRows)
        unread = block.endIndex..<unread.endIndex
        return log.text(rows: block)
    }

    package mutating func stopReading() { unread = 0..<0 }

    /// The board was reset: the next measurement is an interval away.
    package mutating func reset(at instant: Duration) {
        stopReading()
        measurementDue = interval.map { instant + $0 }
    }
}
