internal import Synchronization

/// The signals that fit a rule, in the order in which they came.
///
/// What comes while nobody reads is kept without bound: whoever is slower than the sender takes a handler instead, by
/// ``DBusConnection/handleSignals(matching:_:onEnd:)``, and keeps what it needs.
///
/// One task may iterate. The sequence ends when that task is cancelled or the connection is closed, and throws when the
/// bus went away. When it is let go the bus is told that the signals are not wanted any more.
public final class DBusSignals: AsyncSequence, Sendable {
    public typealias Element = DBusSignal
    public typealias Failure = DBusError

    private let buffer: SignalBuffer
    private let subscription: DBusSubscription

    init(_ buffer: SignalBuffer, _ subscription: DBusSubscription) {
        self.buffer = buffer
        self.subscription = subscription
    }

    /// Ends the sequence. Cancelling twice is allowed.
    public func cancel() {
        subscription.cancel()
        buffer.end(nil)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(signals: self) }

    /// Waits for the sequence's next signal.
    public struct Iterator: AsyncIteratorProtocol {
        let signals: DBusSignals

        public mutating func next() async throws(DBusError) -> DBusSignal? { try await signals.buffer.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(DBusError) -> DBusSignal? {
            try await signals.buffer.next()
        }
    }
}

/// Signals that nobody has read yet, or who waits for one.
final class SignalBuffer: Sendable {
    private typealias Outcome = Result<DBusSignal?, DBusError>

    private struct State {
        var signals: [DBusSignal] = []
        /// How many of `signals` have been read.
        var position = 0
        var reader: UnsafeContinuation<Outcome, Never>?
        var end: Outcome?

        mutating func takeFirst() -> DBusSignal? {
            guard position < signals.count else { return nil }
            defer {
                position += 1
                if position == signals.count {
                    signals.removeAll(keepingCapacity: signals.count <= 64)
                    position = 0
                } else if position >= 1024, position * 2 >= signals.count {
                    signals.removeFirst(position)
                    position = 0
                }
            }
            return signals[position]
        }
    }

    private let state = Mutex(State())

    func append(_ signal: DBusSignal) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as UnsafeContinuation<Outcome, Never>? }
            if state.reader == nil { state.signals.append(signal) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: .success(signal))
    }

    /// Lets the sequence end behind what is there, with an error or without.
    func end(_ error: DBusError?) {
        let outcome: Outcome = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLock { state in
            if state.end == nil { state.end = outcome }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: outcome)
    }

    func next() async throws(DBusError) -> DBusSignal? {
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let outcome: Outcome? = state.withLock { state in
                    precondition(state.reader == nil, "one task iterates a sequence of signals")
                    if Task.isCancelled { return .success(nil) }
                    if let signal = state.takeFirst() { return .success(signal) }
                    if let end = state.end {
                        state.end = .success(nil)  // an error is thrown once
                        return end
                    }
                    state.reader = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: .success(nil))
        }.get()
    }
}
