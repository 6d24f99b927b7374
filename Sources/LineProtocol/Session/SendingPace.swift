/// Spaces commands so that they never overflow the device's receive buffer.
///
/// An answered command has left the buffer. One that was given up may still be in it, so the next command waits until the
/// device has had time to read it.
struct SendingPace {
    /// The most stops that may be unanswered within ``stopMemory``: 25 bytes of the 63 that a pump's UART keeps.
    private static let mostStops = 5
    private static let stopMemory = Duration.seconds(1)

    /// The earliest time for the next command; a stop does not wait for it.
    private(set) var nextSending = Duration.zero
    private var lastSending = Duration.zero
    private var stops: [Duration] = []

    /// Takes note that a command is sent.
    mutating func noteSending(at now: Duration) { lastSending = now }

    /// Takes note that the command sent last is given up. The device may need `readingTime` to read it.
    mutating func noteGivingUp(readingTime: Duration) { nextSending = lastSending + readingTime }

    /// Takes note that a stop was answered. If none is unanswered now, the device has read everything sent before.
    mutating func noteStopAnswer() {
        if !stops.isEmpty { stops.removeFirst() }
        if stops.isEmpty { nextSending = .zero }
    }

    /// Counts one more stop, and returns whether to send it: false where enough of them are unanswered.
    mutating func takeStop(at now: Duration) -> Bool {
        stops.removeAll { $0 + Self.stopMemory <= now }
        guard stops.count < Self.mostStops else { return false }
        stops.append(now)
        return true
    }
}
