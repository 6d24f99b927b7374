/// The storm sensor: an ESP32 that measures, keeps a log, and gives it out for `GET_LOG`.
///
/// The log is read and printed block by block, so that a log of any length takes no more memory than a block. A
/// measurement that is due meanwhile is printed between two rows; what `GET_LOG` brings is the log as it was when it came.
///
/// ```swift
/// var storm = StormFirmware(options: StormFirmwareOptions(lineRate: .unlimited, rows: 3))
/// storm.receive(Array("GET_LOG\n".utf8), at: .zero)
/// _ = storm.advance(to: .seconds(1))  // LOG Values: 2 1 39 517.10 …
/// ```
public struct StormFirmware: SimulatedDevice {
    /// How many rows are read from the flash at once.
    public static let blockRows = 256
    /// How long that takes.
    public static let blockTime = Duration.microseconds(250)

    /// Which sensor this is.
    public let options: StormFirmwareOptions
    /// How many rows are stored.
    public private(set) var rowCount: Int
    /// What the sensor measures.
    public let log: StormLog

    private var now = Duration.zero
    private var line: SerialLine
    private var commandLine = CommandLine()
    /// The rows that are still to be printed for a `GET_LOG`.
    private var unprinted: Range<Int>?
    /// When the next block is printed.
    private var blockDue: Duration?
    private var measurementDue: Duration?

    /// A sensor that has been powered for a while; its first measurement is an interval away.
    public init(options: StormFirmwareOptions = StormFirmwareOptions()) {
        self.options = options
        rowCount = options.rows
        log = StormLog(seed: options.seed)
        line = SerialLine(rate: options.lineRate)
        measurementDue = options.interval
    }

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        line.send(bytes, at: max(instant, now))
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        var emissions: [Emission] = []
        while let next = nextActivity, next <= instant {
            now = max(now, next)
            emissions += line.transmit(until: now)
            live()
        }
        now = max(now, instant)
        return emissions + line.transmit(until: now)
    }

    public var nextActivity: Duration? {
        [line.nextArrival, line.nextDeparture, blockDue, measurementDue].compactMap { $0 }.min()
    }

    public var isQuiescent: Bool { line.isIdle && line.nextArrival == nil && blockDue == nil }

    /// Resets the board: what it was printing is lost. The log is not.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        line.clear()
        commandLine = CommandLine()
        unprinted = nil
        blockDue = nil
        measurementDue = options.interval.map { now + $0 }
    }

    // MARK: The program

    private mutating func live() {
        for byte in line.receive(by: now) {
            guard let command = commandLine.append(byte) else { continue }
            obey(command)
        }
        if let due = measurementDue, due <= now { measure() }
        if let due = blockDue, due <= now { printBlock() }
    }

    /// The protocol names one command, and says nothing of what becomes of others: nothing.
    private mutating func obey(_ command: [UInt8]) {
        guard command == Array("GET_LOG".utf8) else { return }
        if options.echoesCommand { line.write(command + Self.lineEnd, at: now) }
        // One log at a time: asked again, it begins again.
        line.write(Array("LOG Values: ".utf8) + (rowCount == 0 ? Self.lineEnd : []), at: now)
        unprinted = rowCount == 0 ? nil : 0..<rowCount
        blockDue = unprinted == nil ? nil : now + Self.blockTime
    }

    private mutating func measure() {
        var row = Array("LIVE LOG: ".utf8)
        log.append(row: rowCount, to: &row)
        rowCount += 1
        measurementDue = options.interval.map { now + $0 }
        // Behind the prefix of the log nothing but its first row may follow.
        if unprinted?.lowerBound == 0 { printBlock() }
        line.write(row + Self.lineEnd, at: now)
    }

    private mutating func printBlock() {
        guard let rows = unprinted else { return }
        let block = rows.prefix(Self.blockRows)
        line.write(log.text(rows: block), at: now)
        unprinted = block.endIndex < rows.endIndex ? block.endIndex..<rows.endIndex : nil
        blockDue = unprinted.map { _ in max(now + Self.blockTime, line.idleTime ?? now) }
    }

    private static let lineEnd = Array("\r\n".utf8)
}
