/// The storm sensor: an ESP32 that measures, keeps a log, and sends it for `GET_LOG`.
///
/// The log is read and printed block by block, so that a log of any length needs only the memory of one block. A
/// measurement during the transfer is printed between two rows. The transferred log is that of the moment when
/// `GET_LOG` arrived.
///
/// ```swift
/// var storm = StormFirmware(options: StormFirmwareOptions(lineRate: .unlimited, rows: 3))
/// storm.receive(Array("GET_LOG\n".utf8), at: .zero)
/// _ = storm.advance(to: .seconds(1))  // LOG Values: 2 2 48 -347.10 …
/// ```
public struct StormFirmware: SimulatedDevice {
    /// The options of this sensor.
    public private(set) var options: StormFirmwareOptions
    /// The number of stored rows.
    public var rowCount: Int { store.rowCount }
    /// The measurements of the sensor.
    public var log: StormLog { store.log }

    private var now = Duration.zero
    private var store: StormStore
    private var line: SerialLine
    private var commandLine = CommandLine()
    /// The instant at which the next block is printed; nil if no log is being transferred.
    private var blockDue: Duration?

    /// Creates a sensor that has been powered for a while. Its first measurement follows after one interval.
    public init(options: StormFirmwareOptions = StormFirmwareOptions()) {
        self.options = options
        store = StormStore(options)
        line = SerialLine(rate: options.lineRate)
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
        [line.nextArrival, line.nextDeparture, blockDue, store.measurementDue].compactMap { $0 }.min()
    }

    public var isQuiescent: Bool { line.isIdle && line.nextArrival == nil && blockDue == nil }

    /// Resets the board. Output that has not left is lost, but the log is not.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        line.clear()
        commandLine = CommandLine()
        store.reset(at: now)
        blockDue = nil
    }

    public static var verbs: [DeviceVerb<StormFirmware>] {
        [DeviceVerb("measure", help: "Measure now.") { storm, _, now in storm.measureNow(at: now) }]
    }

    public static var settings: [DeviceSetting<StormFirmware>] { StormStore.settings(\.options, \.store) }

    public var observations: [String: ObservedValue] { ["rows": .integer(rowCount)] }

    /// Measures now. The next periodic measurement follows after one interval.
    public mutating func measureNow(at instant: Duration) {
        now = max(now, instant)
        measure()
    }

    // MARK: The program

    /// Handles input, measures and prints the next block, as far as they are due.
    private mutating func live() {
        for byte in line.receive(by: now) {
            guard let command = commandLine.append(byte) else { continue }
            obey(command)
        }
        if let due = store.measurementDue, due <= now { measure() }
        if let due = blockDue, due <= now { printBlock() }
    }

    /// Obeys a command. The protocol names only `GET_LOG`; any other command is ignored.
    private mutating func obey(_ command: [UInt8]) {
        guard command == Array("GET_LOG".utf8) else { return }
        if options.echoesCommand { line.write(command + Self.lineEnd, at: now) }
        // There is one transfer of the log at a time: another request starts it again.
        store.beginReading()
        // An empty log is the prefix with a line end.
        line.write(Array("LOG Values: ".utf8) + (store.isReading ? [] : Self.lineEnd), at: now)
        blockDue = store.isReading ? now + StormStore.blockTime : nil
    }

    private mutating func measure() {
        // A live row must not come between the log's prefix and its first row, so the first block goes before it.
        if store.isAtFirstRow { printBlock() }
        line.write(Array("LIVE LOG: ".utf8) + store.measure(at: now) + Self.lineEnd, at: now)
    }

    /// Prints the next block of the log. The block after it is due when this one has left.
    private mutating func printBlock() {
        line.write(store.readBlock(), at: now)
        blockDue = store.isReading ? max(now + StormStore.blockTime, line.idleTime ?? now) : nil
    }

    private static let lineEnd = Array("\r\n".utf8)
}
