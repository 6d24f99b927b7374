internal import DescriptorIO

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

    private let buffer: ArrivalQueue<DBusSignal, DBusError>
    private let subscription: DBusSubscription

    init(_ buffer: ArrivalQueue<DBusSignal, DBusError>, _ subscription: DBusSubscription) {
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
