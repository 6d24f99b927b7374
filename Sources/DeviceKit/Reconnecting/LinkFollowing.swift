public import LineProtocol
internal import Synchronization

/// What a device says unasked, through losses of its link: what is heard, that the device is lost, and that it is back.
///
/// ```swift
/// let endpoint = try Endpoint("ble:storm")
/// let link = try await LinkSchemes.families.open(endpoint)
/// for try await event in StormMonitor(over: link, Reconnector(endpoint, link)) {
///     if case .heard(let row) = event { print(row.measurement?.value ?? .nan) }
/// }
/// ```
///
/// The link is read only as fast as the sequence is, so that a slow reader holds up the device where its carrier allows it.
/// It ends by an error where the device can't come back; see ``Reconnector/link()``. It is for one reader: who breaks off
/// ends it, and its link is closed a little later, or at the latest when ``close()`` returns.
public final class LinkFollowing<Heard: Sendable>: AsyncSequence, Sendable {
    /// What comes about.
    public enum Element: Sendable {
        /// The device has said this.
        case heard(Heard)
        /// The link is lost, and closed. The device is waited for.
        case lost(LinkError)
        /// The device is back, at another link. It may have started anew.
        case back
    }

    /// Begins to listen on a link. What it returns waits for what is heard next, nil once the link is closed; both throw the
    /// `LinkError` of a link that is lost.
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
    ///   - link: The link to it; it is closed in the end, as is each that is opened.
    ///   - reconnector: Gets the device back.
    ///   - listen: Makes of each link what is heard.
    public init(over link: any Link, _ reconnector: Reconnector, listen: @escaping Listener) {
        state = Mutex(.up(link))
        self.reconnector = reconnector
        self.listen = listen
    }

    public func makeAsyncIterator() -> Iterator { Iterator(Reading(self)) }

    /// What a reader has of it.
    public struct Iterator: AsyncIteratorProtocol {
        private let reading: Reading
        private var hear: (() async throws -> Heard?)?

        fileprivate init(_ reading: Reading) { self.reading = reading }

        /// What comes about next.
        ///
        /// - Throws: Why the device can't come back; `CancellationError` once the link was closed, or the task cancelled.
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

    /// The link that is read; nil where it is lost.
    private var link: (any Link)? {
        get throws(CancellationError) {
            switch state.withLock({ $0 }) {
            case .up(let link): return link
            case .lost: return nil
            case .closed: throw CancellationError()
            }
        }
    }

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

    private func end(as end: State) async {
        let before = state.withLock { state in
            defer { if case .closed = state {} else { state = end } }
            return state
        }
        if case .up(let link) = before { await link.close() }
    }

    /// Closes the link; the sequence ends by `CancellationError`. Closing twice is allowed.
    public func close() async { await end(as: .closed) }

    /// Calls `body`, which reads the sequence, and returns once its link is closed.
    public func closing(_ body: () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await close()
        try result.get()
    }

    /// Calls `body` with each element that comes about, until it has returned true so many times.
    ///
    /// - Parameter count: How many times; nil to go on for ever.
    public func forEach(until count: Int?, _ body: (Element) async throws -> Bool) async throws {
        var rest = count
        for try await element in self {
            guard try await body(element) else { continue }
            rest = rest.map { $0 - 1 }
            if rest == 0 { return }
        }
    }
}
