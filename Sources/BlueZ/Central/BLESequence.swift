internal import DescriptorIO

/// The events of a scan, or the values of a characteristic, in the order of their arrival.
///
/// Elements are buffered without bound until they are read. One task may iterate. The sequence ends if the task is
/// cancelled, ``cancel()`` is called, or this program disconnects the device; it throws if the device, the adapter or
/// bluetoothd is gone. Releasing the sequence ends the scan or the subscription.
public final class BLESequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = BLEError

    private let queue: ArrivalQueue<Element, BLEError>
    /// Ends the scan or the subscription. May be called twice, and on any thread.
    private let stop: @Sendable () -> Void

    init(_ queue: ArrivalQueue<Element, BLEError>, stop: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.stop = stop
    }

    deinit { stop() }

    /// Ends the sequence after the elements that have arrived. Cancelling twice is allowed.
    public func cancel() {
        stop()
        queue.end(nil)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Waits for the next element of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: BLESequence

        public mutating func next() async throws(BLEError) -> Element? { try await sequence.queue.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> Element? {
            try await sequence.queue.next()
        }
    }
}
