public import LineProtocol
internal import Synchronization

/// After which new messages nothing more is waited for, and whether they have come.
public final class MessageGoal: Sendable {
    /// After how many new messages; nil for no bound.
    private let count: Int?
    /// Whether a new message of the category SOS is waited for.
    public let isSOS: Bool

    private struct State {
        var newCount = 0
        var hasSOS = false
        /// What came behind the last that counts.
        var surplus: Set<RescueID> = []
    }

    private let state = Mutex(State())

    /// A goal; without either nothing ends the waiting.
    ///
    /// - Parameters:
    ///   - count: After how many new messages nothing more is waited for.
    ///   - isSOS: Whether a new message of the category SOS ends the waiting.
    public init(count: Int? = nil, isSOS: Bool = false) {
        self.count = count
        self.isSOS = isSOS
    }

    /// Whether what was waited for has come.
    public var hasCome: Bool { state.withLock { $0.newCount == count || isSOS && $0.hasSOS } }

    /// Counts messages that were stored, and were new.
    func take(_ messages: [RescueMessage]) {
        state.withLock { state in
            for message in messages {
                if state.newCount == count {
                    state.surplus.insert(message.id)
                } else {
                    state.newCount += 1
                }
                if message.category == .sos { state.hasSOS = true }
            }
        }
    }

    /// Whether a message came when all that was waited for had come. It is kept, and none of the results.
    public func isSurplus(_ message: RescueMessage) -> Bool { state.withLock { $0.surplus.contains(message.id) } }
}
