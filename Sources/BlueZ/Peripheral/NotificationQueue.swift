internal import DBus

/// Notifications on their way to bluetoothd: in order, without loss, and with a limited number in flight. For
/// characteristics with ``LocalCharacteristic/Delivery/toAll``; the others use ``AcquiredSockets``.
///
/// A notification is a signal, which bluetoothd does not acknowledge. But the bus preserves the order of messages
/// between two clients: the reply to a call proves that bluetoothd has taken all earlier signals. The queue therefore
/// makes a harmless call after every few notifications. While too many notifications are unconfirmed, the others wait
/// here.
final class NotificationQueue: @unchecked Sendable {
    // @unchecked: all accesses are on the loop's thread, by the peripheral, whose executor the loop is, and by the
    // handlers that the connection calls there.

    /// A new value of a characteristic.
    struct Notification: Sendable, Equatable {
        let path: ObjectPath
        let value: [UInt8]
    }

    typealias Answer = Result<Void, BLEError>

    private struct Waiting {
        let notification: Notification
        let outcome: Outcome<Void>
    }

    /// The limit of notifications in flight: sent, and not known to be taken by bluetoothd. Chosen, not measured.
    static let window = 32

    private let emit: (Notification) -> Answer
    /// Makes a harmless call to bluetoothd, and passes on the reply.
    private let ask: (@escaping @Sendable (Answer) -> Void) -> Void
    private var waiting: [Waiting] = []
    /// The callers that wait until all notifications have been taken.
    private var flushers: [Outcome<Void>] = []
    /// The number of notifications in flight.
    private var unconfirmed = 0
    /// The number of notifications that the pending call confirms; 0 without a pending call.
    private var asked = 0
    /// The number of times that all notifications were given up. Replies of an earlier generation are ignored.
    private var generation = 0

    init(
        emit: @escaping (Notification) -> Answer,
        ask: @escaping (@escaping @Sendable (Answer) -> Void) -> Void
    ) {
        self.emit = emit
        self.ask = ask
    }

    /// Sends a notification after the earlier ones. Returns when the notification has been handed to the bus.
    ///
    /// - Throws: `cancelled`; the error with which `emit` or an earlier call to bluetoothd failed; the error of
    ///   ``fail(_:)``.
    func send(_ notification: Notification) async throws(BLEError) {
        let outcome = Outcome<Void>()
        waiting.append(Waiting(notification: notification, outcome: outcome))
        advance()
        try await outcome.wait(activity: "notifying")
    }

    /// Waits until bluetoothd has taken all notifications, also notifications that are sent during the wait.
    ///
    /// - Throws: As ``send(_:)``. In particular `timedOut` if bluetoothd does not reply to the call.
    func flush() async throws(BLEError) {
        let outcome = Outcome<Void>()
        flushers.append(outcome)
        advance()
        try await outcome.wait(activity: "notifying")
    }

    /// Fails all waiting notifications and flushes with an error.
    func fail(_ error: BLEError) {
        generation += 1
        unconfirmed = 0
        asked = 0
        let outcomes = waiting.map(\.outcome) + flushers
        waiting = []
        flushers = []
        for outcome in outcomes { outcome.finish(.failure(error)) }
    }

    /// Sends waiting notifications up to the limit. Then calls bluetoothd if half of the limit is in flight or a flush
    /// waits, or finishes the flushes if nothing is left.
    private func advance() {
        var taken = 0
        while unconfirmed < Self.window, taken < waiting.count {
            let next = waiting[taken]
            taken += 1
            // The task of the caller was cancelled.
            if next.outcome.isFinished { continue }
            let answer = emit(next.notification)
            if case .success = answer { unconfirmed += 1 }
            next.outcome.finish(answer)
        }
        waiting.removeFirst(taken)
        if unconfirmed == 0, waiting.isEmpty {
            let done = flushers
            flushers = []
            for flusher in done { flusher.finish(.success(())) }
        } else if asked == 0, unconfirmed >= Self.window / 2 || !flushers.isEmpty {
            asked = unconfirmed
            ask { [weak self, generation] in self?.take($0, of: generation) }
        }
    }

    /// Handles the reply to a call. A failed call gives up all waiting notifications.
    private func take(_ answer: Answer, of generation: Int) {
        guard generation == self.generation else { return }
        switch answer {
        case .failure(let error): fail(error)
        case .success:
            unconfirmed -= asked
            asked = 0
            advance()
        }
    }
}
