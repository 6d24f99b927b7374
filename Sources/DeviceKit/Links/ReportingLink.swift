public import LineProtocol
internal import Synchronization

/// A link that tells what comes to light after it was opened: who else has the port open, what the link itself
/// remarks, and that the board at its other end has restarted.
///
/// Looking for other programs takes a while, and nothing may hold up the first bytes, which may be OFF. So it is done
/// while the device answers them, or where nothing is sent, after ``patience``.
public final class ReportingLink: LinkWrapper {
    /// The longest line in which a restart is looked for.
    private static let lineLimit = 256
    /// For how long the first bytes to send are waited for.
    public static let patience = Duration.seconds(1)

    /// What is told of.
    public enum Discovery: Sendable, Hashable {
        /// The board has restarted, as its boot ROM says.
        case restart(ESP32Reset)
        /// What the link itself remarks, once it is closed: see ``LineProtocol/Link/remark``.
        case remark(String)
    }

    public let link: any Link
    private let tell: @Sendable (Discovery) -> Void
    private let lookAround: (@Sendable () -> Void)?
    private let state = Mutex(State())

    private struct State {
        var hasLooked = false
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
    ///   - lookAround: Looks once for who else uses the device; called on the link's executor.
    ///   - tell: Called with each discovery; must not block.
    public init(
        _ link: any Link, clock: any Clock<Duration>, mayRestart: Bool = false,
        lookAround: (@Sendable () -> Void)? = nil, tell: @escaping @Sendable (Discovery) -> Void
    ) {
        self.link = link
        self.tell = tell
        self.lookAround = lookAround
        looksForRestart = mayRestart && !link.keepsPacketBounds
        guard lookAround != nil else { return }
        let waiting = Task(executorPreference: link.executor) { [weak self] in
            if (try? await clock.sleep(for: Self.patience)) != nil { self?.look() }
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
        let bytes = try await link.receive()
        if let bytes { lookForRestart(bytes) }
        return bytes
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        lookForRestart(bytes)
        return bytes
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        guard looksForRestart else { return await link.forward(to: receiver) }
        await link.forward { arrival in
            if case .bytes(let bytes) = arrival { self.lookForRestart(bytes) }
            receiver(arrival)
        }
    }

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

    public func close() async {
        stopWaiting()
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
        guard lookAround != nil, !state.withLock({ $0.hasLooked }) else { return }
        Task(executorPreference: link.executor) { self.look() }
    }

    private func look() {
        let isFirst = state.withLock { state in
            defer { state.hasLooked = true }
            return !state.hasLooked
        }
        stopWaiting()
        if isFirst { lookAround?() }
    }

    private func stopWaiting() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.cancel()
    }
}
