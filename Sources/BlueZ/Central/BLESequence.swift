internal import DescriptorIO

/// What a scan finds, or what a characteristic tells, in the order in which it came.
///
/// What comes while nobody reads is kept without bound. One task may iterate. The sequence ends when that task is
/// cancelled, or it was asked to by ``cancel()``; it throws when what it comes from is gone. When it is let go, bluetoothd
/// is told that nothing more is wanted.
public final class BLESequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = BLEError

    private let queue: ArrivalQueue<Element, BLEError>
    private let stop: @Sendable () -> Void

    init(_ queue: ArrivalQueue<Element, BLEError>, stop: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.stop = stop
    }

    deinit { stop() }

    /// Ends the sequence. Cancelling twice is allowed.
    public func cancel() {
        stop()
        queue.end(nil)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Waits for the sequence's next element.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: BLESequence

        public mutating func next() async throws(BLEError) -> Element? { try await sequence.queue.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> Element? {
            try await sequence.queue.next()
        }
    }
}
