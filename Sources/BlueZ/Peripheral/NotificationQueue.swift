internal import DBus
internal import DescriptorIO

/// Notifications on their way to bluetoothd: in their order, none lost, and no more at once than it can be expected to
/// take.
///
/// bluetoothd takes a notification as a signal, which nobody answers. The bus keeps the order of all that one sends to
/// another, though: the answer to a call says that the signals before it were taken. So after every few of them
/// bluetoothd is asked something of no matter, and as long as it owes answers for too many, the others wait here.
final class NotificationQueue: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its loop only: by its peripheral, whose executor the loop is, by what
    // the loop executes, and by the handlers that the connection calls there.

    /// A value of a characteristic.
    struct Notification: Sendable, Equatable {
        let path: ObjectPath
        let value: [UInt8]
    }

    typealias Outcome = Result<Void, BLEError>

    /// The most that bluetoothd has been sent and has not been seen to take.
    static let window = 32

    private let loop: EventLoop
    private let emit: (Notification) -> Outcome
    /// Asks bluetoothd; the answer is given in the order of the bus.
    private let ask: (@escaping @Sendable (Outcome) -> Void) -> Void
    private var waiting: [Ticket] = []
    /// Those who wait for all that was sent until now.
    private var flushers: [Ticket] = []
    private var unconfirmed = 0
    /// How many of them the question that is under way is about; 0 where there is none.
    private var asked = 0
    /// How often all was given up, by which a late answer is known.
    private var generation = 0

    init(
        on loop: EventLoop, emit: @escaping (Notification) -> Outcome,
        ask: @escaping (@escaping @Sendable (Outcome) -> Void) -> Void
    ) {
        self.loop = loop
        self.emit = emit
        self.ask = ask
    }

    /// Sends a notification behind those before it, and returns once there was room for it.
    func send(_ notification: Notification) async throws(BLEError) {
        let ticket = Ticket(notification)
        waiting.append(ticket)
        advance()
        try await wait(for: ticket)
    }

    /// Waits until bluetoothd has taken all that was sent before.
    func flush() async throws(BLEError) {
        let ticket = Ticket(nil)
        flushers.append(ticket)
        advance()
        try await wait(for: ticket)
    }

    /// Gives up all that waits, since there is nobody to take it.
    func fail(_ error: BLEError) {
        generation += 1
        unconfirmed = 0
        asked = 0
        let tickets = waiting + flushers
        waiting = []
        flushers = []
        for ticket in tickets { ticket.finish(.failure(error)) }
    }

    private func advance() {
        var sent = 0
        while unconfirmed < Self.window, sent < waiting.count {
            let ticket = waiting[sent]
            sent += 1
            guard let notification = ticket.notification else { continue }
            let outcome = emit(notification)
            if case .success = outcome { unconfirmed += 1 }
            ticket.finish(outcome)
        }
        waiting.removeFirst(sent)
        if unconfirmed == 0, waiting.isEmpty {
            let done = flushers
            flushers = []
            for ticket in done { ticket.finish(.success(())) }
        } else if asked == 0, unconfirmed >= Self.window / 2 || !flushers.isEmpty {
            asked = unconfirmed
            ask { [weak self, generation] in self?.take($0, of: generation) }
        }
    }

    private func take(_ answer: Outcome, of generation: Int) {
        guard generation == self.generation else { return }
        switch answer {
        case .failure(let error): fail(error)
        case .success:
            unconfirmed -= asked
            asked = 0
            advance()
        }
    }

    private func wait(for ticket: Ticket) async throws(BLEError) {
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                ticket.wait(continuation)
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            loop.execute { self.cancel(ticket) }
        }.get()
    }

    private func cancel(_ ticket: Ticket) {
        waiting.removeAll { $0 === ticket }
        flushers.removeAll { $0 === ticket }
        ticket.finish(.failure(BLEError(.cancelled, activity: "notifying")))
    }

    /// A notification, or the wait for all before it.
    private final class Ticket: @unchecked Sendable {
        // @unchecked: as its queue, touched on the loop's thread only.

        let notification: Notification?
        private var outcome: Outcome?
        private var continuation: UnsafeContinuation<Outcome, Never>?

        init(_ notification: Notification?) { self.notification = notification }

        func wait(_ continuation: UnsafeContinuation<Outcome, Never>) {
            if let outcome { continuation.resume(returning: outcome) } else { self.continuation = continuation }
        }

        /// Only the first outcome counts.
        func finish(_ outcome: Outcome) {
            guard self.outcome == nil else { return }
            self.outcome = outcome
            continuation?.resume(returning: outcome)
            continuation = nil
        }
    }
}
