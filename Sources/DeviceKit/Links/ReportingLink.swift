public import LineProtocol
internal import Synchronization

/// A link that reports discoveries after the opening: remarks of the link itself, and restarts of the board at the
/// other end. It also starts a search, for example for other users of the port: see ``LookAround``.
///
/// The search takes longer than a command, and nothing may delay OFF or its confirmation. So the search runs only once:
/// after ``patience`` if the link stays open that long, otherwise right before the link is closed, when it is known
/// whether an answer was missing or odd. If `looksAfterSending` is set, the search already runs after the first send,
/// while the answer is awaited. Closing a link that was lost starts no search.
public final class ReportingLink: LinkWrapper {
    /// The longest line in bytes that is checked for a restart. A report of the boot ROM has some 60 bytes.
    private static let lineLimit = 256
    /// The longest delay between opening and the search: a command that is sent at once is usually answered by then.
    /// The search is earlier if the link is closed before or, with `looksAfterSending`, if bytes are sent before.
    public static let patience = Duration.seconds(1)

    /// A discovery about the link, apart from the search, whose result is no discovery: see ``LookAround``.
    public enum Discovery: Sendable, Hashable {
        /// The board has restarted, according to the message of its boot ROM.
        case restart(ESP32Reset)
        /// A remark of the link itself: `Link.remark`, reported once the link is closed. ``LinkOpening``
        /// reports `Link.openingNote` as a remark too.
        case remark(String)
    }

    /// Makes the search, and reports or keeps the result itself. ``LinkOpening`` looks for other users of the port,
    /// ``SwitchingOff`` for the identity of the device.
    ///
    /// - Parameter isInDoubt: Whether a long search is worth its time. False only if the link is closed before
    ///   ``patience`` and no answer was missing or odd.
    public typealias LookAround = @Sendable (_ isInDoubt: Bool) -> Void

    public let link: any Link
    private let tell: @Sendable (Discovery) -> Void
    private let lookAround: LookAround?
    private let looksAfterSending: Bool
    private let state = Mutex(State())

    private struct State {
        /// Whether the search was made or is running.
        var hasLooked = false
        /// Whether an answer was missing or odd: see `Link.noteDoubt()`.
        var isInDoubt = false
        /// Whether the link is lost, or was closed.
        var hasEnded = false
        /// Whether the remark of the link was reported.
        var hasRemarked = false
        /// The task that makes the search after ``ReportingLink/patience``; nil once it is not needed.
        var waiting: Task<Void, Never>?
        /// Whether bytes were sent over the link.
        var hasSent = false
    }

    /// The incomplete line that was received, from a board that may report restarts.
    private let lines = Mutex(LineFramer(limit: lineLimit))
    private let looksForRestart: Bool

    /// Reports discoveries about `link`.
    ///
    /// - Parameters:
    ///   - link: An open link.
    ///   - clock: The clock that measures ``patience``.
    ///   - mayRestart: Whether the board's boot ROM reports restarts on this link, as an ESP32's does.
    ///   - lookAround: The search; nil for none. Called at most once, on the link's executor or within ``close()``.
    ///   - looksAfterSending: Whether to look as soon as the first bytes are sent, while their answer is awaited.
    ///   - tell: Called with each discovery; must not block.
    public init(
        _ link: any Link, clock: any Clock<Duration>, mayRestart: Bool = false,
        lookAround: LookAround? = nil, looksAfterSending: Bool = false,
        tell: @escaping @Sendable (Discovery) -> Void
    ) {
        self.link = link
        self.tell = tell
        self.lookAround = lookAround
        self.looksAfterSending = looksAfterSending
        looksForRestart = mayRestart && !link.keepsPacketBounds
        guard lookAround != nil else { return }
        let waiting = Task(executorPreference: link.executor) { [weak self] in
            if (try? await clock.sleep(for: Self.patience)) != nil { self?.look(isInDoubt: true) }
        }
        state.withLock { $0.waiting = waiting }
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        do throws(LinkError) { try await link.send(bytes) } catch {
            if error.code == .disconnected { noteEnd() }
            throw error
        }
        state.withLock { $0.hasSent = true }
        lookSoon()
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        do throws(LinkError) { guard try link.sendAtOnce(bytes) else { return false } } catch {
            if error.code == .disconnected { noteEnd() }
            throw error
        }
        state.withLock { $0.hasSent = true }
        lookSoon()
        return true
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        do throws(LinkError) {
            let bytes = try await link.receive()
            if let bytes { lookForRestart(bytes) } else { noteEnd() }
            return bytes
        } catch {
            if error.code != .cancelled { noteEnd() }
            throw error
        }
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        lookForRestart(bytes)
        return bytes
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.lookForRestart(bytes)
            case .ended: self.noteEnd()
            }
            receiver(arrival)
        }
    }

    private func noteEnd() { state.withLock { $0.hasEnded = true } }

    /// Reports restarts of the board. If opening may have reset the board, restarts before the first send are not
    /// reported.
    private func lookForRestart(_ bytes: [UInt8]) {
        guard looksForRestart else { return }
        var resets: [ESP32Reset] = []
        lines.withLock { framer in
            // The bytes before a report don't matter, so most bytes need not be cut into lines.
            if framer.pendingByteCount == 0, !ESP32Reset.mayBegin(in: bytes) { return }
            framer.append(bytes.span) { line, _ in
                if let reset = ESP32Reset(line: line) { resets.append(reset) }
            }
        }
        guard !link.mayHaveReset || state.withLock({ $0.hasSent }) else { return }
        for reset in resets { tell(.restart(reset)) }
    }

    public func noteDoubt() {
        state.withLock { $0.isInDoubt = true }
        link.noteDoubt()
    }

    public func close() async {
        stopWaiting()
        let (hasEnded, isInDoubt) = state.withLock { ($0.hasEnded, $0.isInDoubt) }
        // Look before closing: a program that opens the port afterwards can't have taken any bytes. Don't look if the
        // link is lost, because it may be reopened at once to send OFF.
        if !hasEnded { look(isInDoubt: isInDoubt) }
        await link.close()
        guard let remark = link.remark else { return }
        let isFirst = state.withLock { state in
            defer { state.hasRemarked = true }
            return !state.hasRemarked
        }
        if isFirst { tell(.remark(remark)) }
    }

    /// Starts the search once the current job has suspended to wait for the answer, if `looksAfterSending` is set.
    private func lookSoon() {
        guard looksAfterSending, !state.withLock({ $0.hasLooked }) else { return }
        Task(executorPreference: link.executor) { self.look(isInDoubt: true) }
    }

    /// Makes the search, unless it was made before.
    private func look(isInDoubt: Bool) {
        let isFirst = state.withLock { state in
            defer { state.hasLooked = true }
            return !state.hasLooked
        }
        stopWaiting()
        if isFirst { lookAround?(isInDoubt) }
    }

    private func stopWaiting() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.cancel()
    }
}
