/// What carries a phone's messages, both ways: a serial line, or notifications and writes.
struct RescueWire: Sendable {
    /// What every notification has room for.
    static let shortestNotification = 20

    let isLine: Bool
    /// The most bytes of a notification.
    var notificationLength = shortestNotification

    private var line: SerialLine
    private var notifications: [Emission] = []

    init(_ carrier: RescueFirmwareOptions.Carrier) {
        switch carrier {
        case .line(let rate): (line, isLine) = (SerialLine(rate: rate), true)
        case .notifications: (line, isLine) = (SerialLine(rate: .unlimited), false)
        }
    }

    /// When something next arrives or has left.
    var nextActivity: Duration? {
        [line.nextArrival, line.nextDeparture, notifications.first?.time].compactMap { $0 }.min()
    }

    /// When all that was sent will have left; nil if it has.
    var idleTime: Duration? { line.idleTime ?? notifications.last?.time }

    /// Whether nothing is on its way, either way.
    var isIdle: Bool { line.isIdle && notifications.isEmpty && line.nextArrival == nil }

    /// Takes what the far end sends.
    mutating func send(_ bytes: [UInt8], at instant: Duration) { line.send(bytes, at: instant) }

    /// What has arrived by `instant`.
    mutating func receive(by instant: Duration) -> [UInt8] { line.receive(by: instant) }

    /// Sends a message: in one notification where it fits, else in several.
    mutating func write(_ message: [UInt8], at instant: Duration) {
        guard !isLine else { return line.write(message, at: instant) }
        for start in stride(from: 0, to: message.count, by: notificationLength) {
            let piece = message[start..<min(start + notificationLength, message.count)]
            notifications.append(Emission(bytes: Array(piece), time: instant))
        }
    }

    /// What has left by `instant`.
    mutating func transmit(until instant: Duration) -> [Emission] {
        guard !isLine else { return line.transmit(until: instant) }
        defer { notifications = [] }
        return notifications
    }

    /// Forgets what has not left.
    mutating func clear() {
        line.clear()
        notifications = []
    }
}
