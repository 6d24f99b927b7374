public import LineProtocol
internal import Synchronization

/// Follows the unsolicited messages of a device, and reconnects if the link is lost. The elements are messages, losses
/// and returns. To query the device's state at intervals as well, use a ``DeviceMonitor``.
///
/// ```swift
/// let endpoint = try Endpoint("ble:storm")
/// let link = try await LinkSchemes.families.open(endpoint)
/// for try await event in StormMonitor(over: link, Reconnector(endpoint, link)) {
///     if case .heard(let row) = event { print(row.measurement?.value ?? .nan) }
/// }
/// ```
///
/// The link is read only as fast as the sequence is, so that back-pressure reaches the device if its carrier supports
/// that. The sequence throws if the device can't come back; see ``Reconnector/link()``. The sequence supports one
/// reader. When the reader leaves its loop, the link is closed shortly afterwards, at the latest when ``close()``
/// returns.
public final class LinkFollowing<Heard: Sendable>: AsyncSequence, Sendable {
    /// An event of a followed device.
    public enum Element: Sendable {
        /// The device has sent a message.
        case heard(Heard)
        /// The link is lost, and closed. The sequence waits for the device.
        case lost(LinkError)
        /// The device is back, over another link. The device may have restarted.
        case back
    }

    /// Starts to listen on a link. The returned function waits for the next message, and returns nil once the link is
    /// closed. Both functions throw the `LinkError` of a lost link.
    public typealias Listener = @Sendable (any Link) async throws -> (() async throws -> Heard?)

    private enum State {
        case up(any Link)
        case lost
        case closed
    }

    private let state: Mutex<State>
    private let reconnector: Reconnector
    private let listen: Listener

    /// Follows a device.
    ///
    /// - Parameters:
    ///   - link: The link to the device. When the sequence ends, it closes this link and every link that it has opened.
    ///   - reconnector: Restores a lost link.
    ///   - listen: Returns the function that reads messages from a link.
    public init(over link: any Link, _ reconnector: Reconnector, listen: @escaping Listener) {
        state = Mutex(.up(link))
        self.reconnector = reconnector
        self.listen = listen
    }

    public func makeAsyncIterator() -> Iterator { Iterator(Reading(self)) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let reading: Reading
        private var hear: (() async throws -> Heard?)?

        fileprivate init(_ reading: Reading) { self.reading = reading }

        /// Waits for the next event.
        ///
        /// - Returns: The event, never nil: the sequence ends by an error.
        /// - Throws: The reason that the device can't come back; `CancellationError` once the link is closed or the
        ///   task is cancelled.
        public mutating func next() async throws -> Element? {
            let following = reading.following
            do {
                guard let link = try following.link else {
                    try await following.reopen()
                    return .back
                }
                do {
                    if hear == nil { hear = try await following.listen(link) }
                    guard let heard = try await hear?() else { throw CancellationError() }
                    return .heard(heard)
                } catch let error as LinkError where error.code != .cancelled {
                    hear = nil
                    await following.end(as: .lost)
                    return .lost(error)
                }
            } catch {
                await following.close()
                if let error = error as? LinkError, error.code == .cancelled { throw CancellationError() }
                throw error
            }
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? { try await next() }
    }

    /// Ends the sequence with the last copy of its iterator.
    fileprivate final class Reading: Sendable {
        let following: LinkFollowing

        init(_ following: LinkFollowing) { self.following = following }

        deinit { Task { [following] in await following.close() } }
    }

    /// The link that is read; nil if it is lost.
    private var link: (any Link)? {
        get throws(CancellationError) {
            switch state.withLock({ $0 }) {
            case .up(let link): return link
            case .lost: return nil
            case .closed: throw CancellationError()
            }
        }
    }

    /// Waits for the device and changes the state to `up`. If the sequence was closed during the wait, closes the new
    /// link and throws `CancellationError`.
    private func reopen() async throws {
        let link = try await reconnector.link()
        let isWanted = state.withLock { state in
            guard case .lost = state else { return false }
            state = .up(link)
            return true
        }
        guard !isWanted else { return }
        await link.close()
        throw CancellationError()
    }

    /// Closes the link and changes the state, which stays `closed` once it is.
    private func end(as end: State) async {
        let before = state.withLock { state in
            defer { if case .closed = state {} else { state = end } }
            return state
        }
        if case .up(let link) = before { await link.close() }
    }

    /// Closes the link. The sequence throws `CancellationError`. May be called twice.
    public func close() async { await end(as: .closed) }

    /// Calls `body`, which reads the sequence, then closes the link, also if `body` throws.
    public func closing(_ body: () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await close()
        try result.get()
    }

    /// Calls `body` with each event, until it has returned true `count` times.
    ///
    /// - Parameters:
    ///   - count: The number of times; nil to go on without end.
    ///   - body: Handles an event. Returns whether the event counts.
    /// - Throws: The errors of `body` and of the sequence.
    public func forEach(until count: Int?, _ body: (Element) async throws -> Bool) async throws {
        if count == 0 { return }
        var rest = count
        for try await element in self {
            guard try await body(element) else { continue }
            rest = rest.map { $0 - 1 }
            if rest == 0 { return }
        }
    }
}
