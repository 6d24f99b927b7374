internal import DBus

/// Notifications on their way to bluetoothd: in their order, none lost, and no more at once than it can be expected to
/// take.
///
/// bluetoothd takes a notification as a signal, which nobody answers. The bus keeps the order of all that one sends to
/// another, though: the answer to a call says that the signals before it were taken. So after every few of them
/// bluetoothd is asked something of no matter, and as long as it owes answers for too many, the others wait here.
final class NotificationQueue: @unchecked Sendable {
    // @unchecked: it is touched on the thread of one loop only: by its peripheral, whose executor that is, and by the
    // handlers that the connection calls there.

    /// A value of a characteristic.
    struct Notification: Sendable, Equatable {
        let path: ObjectPath
        let value: [UInt8]
    }

    typealias Answer = Result<Void, BLEError>

    private struct Waiting {
        let notification: Notification
        let outcome: Outcome<Void>
    }

    /// The most that bluetoothd has been sent and has not been seen to take.
    static let window = 32

    private let emit: (Notification) -> Answer
    /// Asks bluetoothd; the answer is given in the order of the bus.
    private let ask: (@escaping @Sendable (Answer) -> Void) -> Void
    private var waiting: [Waiting] = []
    /// Those who wait for all that was sent until now.
    private var flushers: [Outcome<Void>] = []
    private var unconfirmed = 0
    /// How many of them the question that is under way is about; 0 where there is none.
    private var asked = 0
    /// How often all was given up, by which a late answer is known.
    private var generation = 0

    init(
        emit: @escaping (Notification) -> Answer,
        ask: @escaping (@escaping @Sendable (Answer) -> Void) -> Void
    ) {
        self.emit = emit
        self.ask = ask
    }

    /// Sends a notification behind those before it, and returns once there was room for it.
    func send(_ notification: Notification) async throws(BLEError) {
        let outcome = Outcome<Void>()
        waiting.append(Waiting(notification: notification, outcome: outcome))
        advance()
        try await outcome.wait(activity: "notifying")
    }

    /// Waits until bluetoothd has taken all that was sent before.
    func flush() async throws(BLEError) {
        let outcome = Outcome<Void>()
        flushers.append(outcome)
        advance()
        try await outcome.wait(activity: "notifying")
    }

    /// Gives up all that waits, since there is nobody to take it.
    func fail(_ error: BLEError) {
        generation += 1
        unconfirmed = 0
        asked = 0
        let outcomes = waiting.map(\.outcome) + flushers
        waiting = []
        flushers = []
        for outcome in outcomes { outcome.finish(.failure(error)) }
    }

    private func advance() {
        var taken = 0
        while unconfirmed < Self.window, taken < waiting.count {
            let next = waiting[taken]
            taken += 1
            // Whose task was cancelled.
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
