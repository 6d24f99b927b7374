public import DescriptorIO
public import LineProtocol

/// Follows a device of any family, for programs that know only the fields in ``Family/state``. The monitor wraps a
/// ``DeviceMonitor`` and reports the device's values by the keys of these fields.
///
/// ```swift
/// guard let follow = family.wire.follow else { return }  // no state can be known
/// let monitor = try await follow(link, Reconnector(endpoint, link), FamilyMonitor.Options())
/// for try await update in monitor { print(update.name, update.values) }
/// ```
public struct FamilyMonitor: AsyncSequence, Sendable {
    public typealias Element = FamilyUpdate

    /// The options of a monitor.
    public struct Options: Sendable {
        /// The interval between queries.
        public var interval: Duration
        /// The time-out of each query.
        public var timeout: Duration
        /// The clock for the interval and the time-out.
        public var clock: any Clock<Duration>
        /// The executor of the monitor's tasks.
        public var executor: any TaskExecutor

        /// Creates options. The defaults suit a person who watches the device.
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

    /// Starts to follow the device at a link; see ``DeviceMonitor/init(over:_:interval:timeout:clock:executor:)``.
    public typealias Follower = @Sendable (any Link, Reconnector, Options) async throws -> FamilyMonitor

    /// Returns the function that follows devices of `family`, to be used as the family's ``WireRules/follow``.
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

    /// Creates a monitor that reports the updates of `monitor`.
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

    /// The iterator of a monitor.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate typealias Read = () async throws -> FamilyUpdate?

        fileprivate let read: Read

        /// Waits for the next update.
        ///
        /// - Returns: The update; nil if the reader's task is cancelled.
        /// - Throws: The reason that the device can't come back; `CancellationError` once the monitor is closed.
        public mutating func next() async throws -> FamilyUpdate? { try await read() }
    }

    /// Ends the monitor, and returns once its link is closed. The sequence throws `CancellationError`. May be called
    /// twice.
    public func close() async { await end() }
}
