/// Spaces commands so that they do not overflow the device's receive buffer.
///
/// An answered command has left the buffer. One that was given up may still be in it, so the next command waits until
/// the device has had time to read it. All times are readings of the session's clock.
struct SendingPace {
    /// The largest number of unanswered stops, and queries after them, within ``stopMemory``: about 30 of the 63 bytes
    /// that a pump's UART keeps.
    private static let mostStops = 5
    /// The time after its sending at which an unanswered stop or query no longer counts: a pump reads five commands in
    /// 0.8 s (rule pump-44).
    private static let stopMemory = Duration.seconds(1)

    /// The earliest time for the next command, unless it is a stop.
    private(set) var nextSending = Duration.zero
    private var lastSending = Duration.zero
    /// The sending times of the unanswered stops, and of the unanswered queries after them.
    private var stops: [Duration] = []

    /// Notes that a command is sent.
    mutating func noteSending(at now: Duration) { lastSending = now }

    /// Notes that the last command is given up. The device may need `readingTime`, counted from its sending, to read
    /// that command.
    mutating func noteGivingUp(readingTime: Duration) { nextSending = lastSending + readingTime }

    /// Notes that a stop, or a query after one, was answered. If none is unanswered now, the device has read everything
    /// that was sent before, and the next command need not wait.
    mutating func noteStopAnswer() {
        if !stops.isEmpty { stops.removeFirst() }
        if stops.isEmpty { nextSending = .zero }
    }

    /// Counts one more stop, or a query after one, and returns whether to send it. Returns false, without counting, if
    /// too many are unanswered. The last of ``mostStops`` places is reserved for a stop.
    mutating func takeStop(at now: Duration, isQuestion: Bool = false) -> Bool {
        stops.removeAll { $0 + Self.stopMemory <= now }
        guard stops.count < Self.mostStops - (isQuestion ? 1 : 0) else { return false }
        stops.append(now)
        return true
    }
}
