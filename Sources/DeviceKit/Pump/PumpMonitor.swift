public import DescriptorIO
public import LineProtocol

/// Follows the state of a pump, through losses of its link: asks for it at intervals, as the phone app does, and listens in
/// between.
///
/// ```swift
/// let endpoint = try Endpoint("usb:1a86:7523")
/// let link = try await LinkSchemes.families.open(endpoint)
/// let monitor = try await PumpMonitor(over: link, Reconnector(endpoint, link))
/// for try await update in monitor { print(update.event, update.state.power) }
/// ```
///
/// The sequence ends by an error where the device can't come back; see ``Reconnector/link()``. It is for one reader.
public final class PumpMonitor: AsyncSequence, Sendable {
    public typealias Element = PumpUpdate
    public typealias AsyncIterator = AsyncThrowingStream<PumpUpdate, any Error>.AsyncIterator

    private let updates: AsyncThrowingStream<PumpUpdate, any Error>
    private let following: Task<Void, Never>

    /// Begins to ask and to listen.
    ///
    /// - Parameters:
    ///   - link: The link to the pump; it is closed in the end, and where this throws.
    ///   - reconnector: Gets the device back.
    ///   - interval: How often the pump is asked. It takes a quarter of a second to answer, and to ask sooner is to hold up
    ///     whoever wants to command it.
    ///   - timeout: How long each answer is waited for.
    ///   - clock: Measures both.
    ///   - executor: What the monitor runs on.
    /// - Throws: `SessionError`: the link is lost right away, or a board that opening it may have reset does not answer.
    public init(
        over link: any Link, _ reconnector: Reconnector, interval: Duration = .seconds(5),
        timeout: Duration = PumpSession.defaultTimeout, clock: any Clock<Duration> = ContinuousClock(),
        executor: any TaskExecutor = EventLoop.shared
    ) async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: PumpUpdate.self)
        updates = stream
        let pump = PumpFollowing(
            reconnector, interval: interval, timeout: timeout, clock: clock, executor: executor
        ) { continuation.yield($0) }
        try await pump.begin(link)
        following = Task(executorPreference: executor) {
            do {
                try await pump.follow()
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    deinit { following.cancel() }

    public func makeAsyncIterator() -> AsyncIterator { updates.makeAsyncIterator() }

    /// Ends the monitor, and returns once its link is closed; the sequence ends by `CancellationError`. Closing twice is
    /// allowed.
    public func close() async {
        following.cancel()
        await following.value
    }
}
