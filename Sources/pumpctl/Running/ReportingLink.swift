import LineProtocol
import Synchronization

/// A link that tells a person what comes to light after it was opened: who else has the port open, and what the link
/// itself remarks.
///
/// Looking for other programs takes a while, and nothing may hold up the first bytes, which may be OFF. So it is done
/// while the device answers them, or where nothing is sent, after ``patience``.
final class ReportingLink: LinkWrapper {
    /// For how long the first bytes to send are waited for.
    static let patience = Duration.seconds(1)

    let link: any Link
    private let note: @Sendable (String) -> Void
    private let lookAround: (@Sendable () -> Void)?
    private let state = Mutex(State())

    private struct State {
        var hasLooked = false
        var hasRemarked = false
        var waiting: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - note: Where to tell it.
    ///   - lookAround: Looks once for what else is to be told; called on the link's executor.
    init(
        _ link: any Link, clock: any Clock<Duration>, note: @escaping @Sendable (String) -> Void,
        lookAround: (@Sendable () -> Void)? = nil
    ) {
        self.link = link
        self.note = note
        self.lookAround = lookAround
        guard lookAround != nil else { return }
        let waiting = Task(executorPreference: link.executor) { [weak self] in
            if (try? await clock.sleep(for: Self.patience)) != nil { self?.look() }
        }
        state.withLock { $0.waiting = waiting }
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        try await link.send(bytes)
        lookSoon()
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        guard try link.sendAtOnce(bytes) else { return false }
        lookSoon()
        return true
    }

    func close() async {
        stopWaiting()
        await link.close()
        guard let remark = link.remark else { return }
        let isFirst = state.withLock { state in
            defer { state.hasRemarked = true }
            return !state.hasRemarked
        }
        if isFirst { note("pumpctl: \(link.name): \(remark)") }
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
