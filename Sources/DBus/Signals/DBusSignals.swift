internal import DescriptorIO

/// The signals that match a rule, in the order of their arrival.
///
/// Signals are buffered without bound until they are read. A subscriber that is slower than the sender should use a
/// handler instead, with ``DBusConnection/handleSignals(matching:_:onEnd:)``, and store only the values that it needs.
///
/// One task may iterate. The sequence ends if the task is cancelled or the connection is closed, and throws if the bus
/// went away. Releasing the sequence ends the subscription.
public final class DBusSignals: AsyncSequence, Sendable {
    public typealias Element = DBusSignal
    public typealias Failure = DBusError

    private let buffer: ArrivalQueue<DBusSignal, DBusError>
    private let subscription: DBusSubscription

    init(_ buffer: ArrivalQueue<DBusSignal, DBusError>, _ subscription: DBusSubscription) {
        self.buffer = buffer
        self.subscription = subscription
    }

    /// Ends the subscription, and the sequence after the signals that have arrived. Cancelling twice is allowed.
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
