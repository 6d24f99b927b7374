/// The carrier of a phone's messages, in both directions: a serial line, or notifications and writes.
struct RescueWire: Sendable {
    /// The number of bytes for which every notification has room.
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

    /// The instant at which something next arrives or has left; nil if nothing is on its way.
    var nextActivity: Duration? {
        [line.nextArrival, line.nextDeparture, notifications.first?.time].compactMap { $0 }.min()
    }

    /// The instant at which all output will have left; nil if no output is on its way.
    var idleTime: Duration? { line.idleTime ?? notifications.last?.time }

    /// Whether nothing is on its way in either direction.
    var isIdle: Bool { line.isIdle && notifications.isEmpty && line.nextArrival == nil }

    /// Puts bytes from the far end on their way to the phone. ``receive(by:)`` returns them when they have arrived.
    mutating func send(_ bytes: [UInt8], at instant: Duration) { line.send(bytes, at: instant) }

    /// Removes and returns the bytes that have arrived by `instant`.
    mutating func receive(by instant: Duration) -> [UInt8] { line.receive(by: instant) }

    /// Sends a message: in one notification if it fits, otherwise in several.
    mutating func write(_ message: [UInt8], at instant: Duration) {
        guard !isLine else { return line.write(message, at: instant) }
        for start in stride(from: 0, to: message.count, by: notificationLength) {
            let piece = message[start..<min(start + notificationLength, message.count)]
            notifications.append(Emission(bytes: Array(piece), time: instant))
        }
    }

    /// Removes and returns the output that has left by `instant`; over BLE, all notifications.
    mutating func transmit(until instant: Duration) -> [Emission] {
        guard !isLine else { return line.transmit(until: instant) }
        defer { notifications = [] }
        return notifications
    }

    /// Discards the output that ``transmit(until:)`` has not returned.
    mutating func clear() {
        line.clear()
        notifications = []
    }
}
