/// The carrier of a peer's messages, in both directions: a serial line, or notifications and writes.
struct PeerWire: Sendable {
    /// The longest accepted message on a line, in bytes. A longer message is dropped.
    static let longestMessage = 4096

    private var line: SerialLine
    private let isLine: Bool
    private var commandLine = CommandLine(capacity: longestMessage)
    private var writes: [(message: [UInt8], time: Duration)] = []
    private var notifications: [(message: [UInt8], time: Duration)] = []

    init(_ carrier: PeerFirmwareOptions.Carrier) {
        switch carrier {
        case .line(let rate): (line, isLine) = (SerialLine(rate: rate), true)
        case .notifications: (line, isLine) = (SerialLine(rate: .unlimited), false)
        }
    }

    /// The instant at which something next arrives or has left; nil if nothing is on its way.
    var nextActivity: Duration? {
        [line.nextArrival, line.nextDeparture, writes.first?.time, notifications.first?.time].compactMap { $0 }.min()
    }

    /// Whether all output has left.
    var isIdle: Bool { line.isIdle && notifications.isEmpty }

    /// The instant at which all output will have left; nil if no output is on its way.
    var idleTime: Duration? { line.idleTime ?? notifications.last?.time }

    /// Whether all input has arrived.
    var isHeard: Bool { line.nextArrival == nil && writes.isEmpty }

    /// Receives bytes from the far end.
    mutating func send(_ bytes: [UInt8], at instant: Duration) {
        if isLine { line.send(bytes, at: instant) } else { writes.append((bytes, instant)) }
    }

    /// Removes and returns the messages that have arrived whole by `instant`; over BLE, all writes.
    mutating func receive(by instant: Duration) -> [[UInt8]] {
        guard isLine else {
            defer { writes = [] }
            return writes.map(\.message)
        }
        var messages: [[UInt8]] = []
        for byte in line.receive(by: instant) {
            if let message = commandLine.append(byte) { messages.append(message) }
        }
        return messages
    }

    /// Sends a message.
    mutating func say(_ message: [UInt8], at instant: Duration) {
        if isLine { line.write(message + Self.lineEnd, at: instant) } else { notifications.append((message, instant)) }
    }

    /// Removes and returns the output that has left by `instant`; over BLE, all notifications.
    mutating func transmit(until instant: Duration) -> [Emission] {
        guard isLine else {
            defer { notifications = [] }
            return notifications.map { Emission(bytes: $0.message, time: $0.time) }
        }
        return line.transmit(until: instant)
    }

    /// Discards the output that ``transmit(until:)`` has not returned.
    mutating func dropOutput() {
        line.clear()
        notifications = []
    }

    /// Discards the output as ``dropOutput()`` does, the beginning of an unfinished message, and the writes that
    /// ``receive(by:)`` has not returned.
    mutating func clear() {
        dropOutput()
        commandLine = CommandLine(capacity: Self.longestMessage)
        writes = []
    }

    private static let lineEnd = Array("\r\n".utf8)
}
