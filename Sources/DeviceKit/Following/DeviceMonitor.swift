public import DescriptorIO
public import LineProtocol

/// Follows the state of a device, through losses of its link: asks for it at intervals and listens in between.
///
/// ```swift
/// let endpoint = try Endpoint("usb:1a86:7523")
/// let link = try await LinkSchemes.families.open(endpoint)
/// let monitor = try await PumpMonitor(over: link, Reconnector(endpoint, link))
/// for try await update in monitor { print(update.event, update.state.power) }
/// ```
///
/// The sequence ends by an error where the device can't come back; see ``Reconnector/link()``. It is for one reader: the
/// monitor lasts as long as somebody reads, and who breaks off ends it. Its link is closed a little later then, or at the
/// latest when ``close()`` returns. A program for devices of any family follows them by ``FamilyMonitor``.
public final class DeviceMonitor<F: FollowedFamily>: AsyncSequence, Sendable {
    public typealias Element = DeviceUpdate<F>

    private let updates: AsyncThrowingStream<Element, any Error>
    private let following: Task<Void, Never>

    /// Begins to ask and to listen.
    ///
    /// - Parameters:
    ///   - link: The link to the device; it is closed in the end, and where this throws.
    ///   - reconnector: Gets the device back.
    ///   - interval: How often the device is asked. A pump takes a quarter of a second to answer, and to ask it sooner is to
    ///     hold up whoever wants to command it.
    ///   - timeout: How long each answer is waited for.
    ///   - clock: Measures both.
    ///   - executor: What the monitor runs on.
    /// - Throws: `SessionError`: the link is lost right away, or a board that opening it may have reset does not answer.
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

    /// What a reader has of a monitor.
    public struct Iterator: AsyncIteratorProtocol {
        private var updates: AsyncThrowingStream<Element, any Error>.AsyncIterator
        private let reading: Reading

        fileprivate init(_ updates: AsyncThrowingStream<Element, any Error>.AsyncIterator, _ reading: Reading) {
            self.updates = updates
            self.reading = reading
        }

        /// The next update.
        ///
        /// - Throws: Why the device can't come back; `CancellationError` once the monitor was closed.
        public mutating func next() async throws -> Element? { try await updates.next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await next()
        }
    }

    /// Keeps the monitor while it is read, and ends it with the last copy of the iterator.
    fileprivate final class Reading: Sendable {
        private let monitor: DeviceMonitor

        init(_ monitor: DeviceMonitor) { self.monitor = monitor }

        deinit { monitor.following.cancel() }
    }

    /// Ends the monitor, and returns once its link is closed; the sequence ends by `CancellationError`. Closing twice is
    /// allowed.
    public func close() async {
        following.cancel()
        await following.value
    }
}
