public import DescriptorIO
public import LineProtocol

/// Follows a device of any family, for a program that knows of the family only its row: ``DeviceMonitor``, its updates told by
/// the keys of ``Family/state``.
///
/// ```swift
/// guard let follow = family.wire.follow else { return }  // it has no query for its state
/// let monitor = try await follow(link, Reconnector(endpoint, link), FamilyMonitor.Options())
/// for try await update in monitor { print(update.name, update.values) }
/// ```
public struct FamilyMonitor: AsyncSequence, Sendable {
    public typealias Element = FamilyUpdate

    /// How a device is followed.
    public struct Options: Sendable {
        /// How often the device is asked.
        public var interval: Duration
        /// How long each answer is waited for.
        public var timeout: Duration
        /// Measures both.
        public var clock: any Clock<Duration>
        /// What the monitor runs on.
        public var executor: any TaskExecutor

        /// Options; those left out are as for a person who looks on.
        public init(
            interval: Duration = .seconds(5), timeout: Duration = PumpSession.defaultTimeout,
            clock: any Clock<Duration> = ContinuousClock(), executor: any TaskExecutor = EventLoop.shared
        ) {
            self.interval = interval
            self.timeout = timeout
            self.clock = clock
            self.executor = executor
        }
    }

    /// Begins to follow the device at a link; see ``DeviceMonitor/init(over:_:interval:timeout:clock:executor:)``.
    public typealias Follower = @Sendable (any Link, Reconnector, Options) async throws -> FamilyMonitor

    /// How devices of `family` are followed: what its row has as ``WireRules/follow``.
    public static func follower<F: FollowedFamily>(of family: F.Type) -> Follower {
        { link, reconnector, options in
            FamilyMonitor(
                try await DeviceMonitor<F>(
                    over: link, reconnector, interval: options.interval, timeout: options.timeout, clock: options.clock,
                    executor: options.executor))
        }
    }

    private let read: @Sendable () -> Iterator.Read
    private let end: @Sendable () async -> Void

    /// A monitor that tells what `monitor` does.
    public init<F: FollowedFamily>(_ monitor: DeviceMonitor<F>) {
        read = {
            var updates = monitor.makeAsyncIterator()
            return {
                while let update = try await updates.next() {
                    if let update = FamilyUpdate(update) { return update }
                }
                return nil
            }
        }
        end = { await monitor.close() }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(read: read()) }

    /// What a reader has of a monitor.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate typealias Read = () async throws -> FamilyUpdate?

        fileprivate let read: Read

        /// The next update.
        ///
        /// - Throws: Why the device can't come back; `CancellationError` once the monitor was closed.
        public mutating func next() async throws -> FamilyUpdate? { try await read() }
    }

    /// Ends the monitor, and returns once its link is closed; the sequence ends by `CancellationError`. Closing twice is
    /// allowed.
    public func close() async { await end() }
}
