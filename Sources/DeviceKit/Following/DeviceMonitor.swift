public import DescriptorIO
public import LineProtocol

/// Follows the state of a device: queries it at intervals and listens in between. If the link is lost, the monitor
/// reconnects.
///
/// ```swift
/// let endpoint = try Endpoint("usb:1a86:7523")
/// let link = try await LinkSchemes.families.open(endpoint)
/// let monitor = try await PumpMonitor(over: link, Reconnector(endpoint, link))
/// for try await update in monitor { print(update.event, update.state.power) }
/// ```
///
/// The sequence throws if the device can't come back; see ``Reconnector/link()``. The sequence supports one reader.
/// Updates are kept without limit until the reader takes them. When the reader leaves its loop, the monitor ends, and
/// its link is closed shortly afterwards, at the latest when ``close()`` returns. Programs for devices of any family
/// use ``FamilyMonitor``. To follow messages without a state, use ``LinkFollowing``.
public final class DeviceMonitor<F: FollowedFamily>: AsyncSequence, Sendable {
    public typealias Element = DeviceUpdate<F>

    private let updates: AsyncThrowingStream<Element, any Error>
    private let following: Task<Void, Never>

    /// Starts to poll and to listen.
    ///
    /// - Parameters:
    ///   - link: The link to the device. The monitor closes the link when the monitor ends, or if this initializer
    ///     throws.
    ///   - reconnector: Restores a lost link.
    ///   - interval: The interval between queries. A pump takes a quarter of a second to answer, and frequent queries
    ///     delay commands.
    ///   - timeout: The time-out of each query.
    ///   - clock: The clock for the interval and the time-out.
    ///   - executor: The executor of the monitor's tasks.
    /// - Throws: `SessionError` if the link is lost right away, or if a board that opening may have reset does not
    ///   answer.
    public init(
        over link: any Link, _ reconnector: Reconnector, interval: Duration = .seconds(5),
        timeout: Duration = Session<F>.defaultTimeout, clock: any Clock<Duration> = ContinuousClock(),
        executor: any TaskExecutor = EventLoop.shared
    ) async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self)
        updates = stream
        let device = DeviceFollowing<F>(
            reconnector, interval: interval, timeout: timeout, clock: clock, executor: executor
        ) { continuation.yield($0) }
        try await device.begin(link)
        following = Task(executorPreference: executor) {
            do {
                try await device.follow()
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    deinit { following.cancel() }

    public func makeAsyncIterator() -> Iterator { Iterator(updates.makeAsyncIterator(), Reading(self)) }

    /// The iterator of a monitor.
    public struct Iterator: AsyncIteratorProtocol {
        private var updates: AsyncThrowingStream<Element, any Error>.AsyncIterator
        private let reading: Reading

        fileprivate init(_ updates: AsyncThrowingStream<Element, any Error>.AsyncIterator, _ reading: Reading) {
            self.updates = updates
            self.reading = reading
        }

        /// Waits for the next update.
        ///
        /// - Returns: The update; nil if the reader's task is cancelled.
        /// - Throws: The reason that the device can't come back; `CancellationError` once the monitor is closed.
        public mutating func next() async throws -> Element? { try await updates.next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await next()
        }
    }

    /// Keeps the monitor alive while it is read, and ends it with the last copy of the iterator.
    fileprivate final class Reading: Sendable {
        private let monitor: DeviceMonitor

        init(_ monitor: DeviceMonitor) { self.monitor = monitor }

        deinit { monitor.following.cancel() }
    }

    /// Ends the monitor, and returns once its link is closed. The sequence throws `CancellationError`. May be called
    /// twice.
    public func close() async {
        following.cancel()
        await following.value
    }
}
