public import LineProtocol
internal import Synchronization

/// A link that tells what comes to light after it was opened: who else has the port open, what the link itself
/// remarks, and that the board at its other end has restarted.
///
/// To look for other programs costs more than a command does, and nothing may hold up OFF or its confirmation. So it is done
/// once for a link that is open for longer than ``patience``, or else right before it is closed: whether an answer did not
/// come or was odd is known by then.
public final class ReportingLink: LinkWrapper {
    /// The longest line in which a restart is looked for.
    private static let lineLimit = 256
    /// How long after opening it looks around, unless the link is closed before.
    public static let patience = Duration.seconds(1)

    /// What is told of.
    public enum Discovery: Sendable, Hashable {
        /// The board has restarted, as its boot ROM says.
        case restart(ESP32Reset)
        /// What the link itself remarks, once it is closed: see ``LineProtocol/Link/remark``.
        case remark(String)
    }

    /// Looks for who else uses the device.
    ///
    /// - Parameter isInDoubt: Whether it is worth a long search: the device takes its time, or an answer is missing or odd.
    public typealias LookAround = @Sendable (_ isInDoubt: Bool) -> Void

    public let link: any Link
    private let tell: @Sendable (Discovery) -> Void
    private let lookAround: LookAround?
    private let looksAfterSending: Bool
    private let state = Mutex(State())

    private struct State {
        var hasLooked = false
        var isInDoubt = false
        var hasEnded = false
        var hasRemarked = false
        var waiting: Task<Void, Never>?
        var hasSent = false
    }

    /// What was received of a line whose end has not come, of a board that may say that it has restarted.
    private let lines = Mutex(LineFramer(limit: lineLimit))
    private let looksForRestart: Bool

    /// Tells of what comes to light about `link`.
    ///
    /// - Parameters:
    ///   - clock: Measures ``patience``.
    ///   - mayRestart: Whether the board is one whose boot ROM says on this link that it has restarted: an ESP32.
    ///   - lookAround: Called at most once, on the link's executor or within ``close()``.
    ///   - looksAfterSending: Whether it looks as soon as the first bytes have gone out and their answer is waited for.
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
        try await link.send(bytes)
        state.withLock { $0.hasSent = true }
        lookSoon()
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        guard try link.sendAtOnce(bytes) else { return false }
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

    /// Tells that the board has restarted, but for where opening the port has done that.
    private func lookForRestart(_ bytes: [UInt8]) {
        guard looksForRestart else { return }
        var resets: [ESP32Reset] = []
        lines.withLock { framer in
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
        // Whoever opens the port behind this has taken nothing. A link that is lost may be opened again at once, for OFF.
        if !hasEnded { look(isInDoubt: isInDoubt) }
        await link.close()
        guard let remark = link.remark else { return }
        let isFirst = state.withLock { state in
            defer { state.hasRemarked = true }
            return !state.hasRemarked
        }
        if isFirst { tell(.remark(remark)) }
    }

    /// Looks around once what runs now has come to wait for the answer.
    private func lookSoon() {
        guard looksAfterSending, !state.withLock({ $0.hasLooked }) else { return }
        Task(executorPreference: link.executor) { self.look(isInDoubt: true) }
    }

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
