public import LineProtocol
internal import Synchronization

/// The condition that ends receiving, and whether it is met.
public final class MessageGoal: Sendable {
    /// The number of new messages that ends receiving; nil for no limit.
    private let count: Int?
    /// Whether a new message of the category SOS ends receiving.
    public let isSOS: Bool

    private struct State {
        var newCount = 0
        var hasSOS = false
        /// The messages that arrived after the number was reached.
        var surplus: Set<RescueID> = []
    }

    private let state = Mutex(State())

    /// Creates a goal. With the default values, receiving goes on without end.
    ///
    /// - Parameters:
    ///   - count: The number of new messages that ends receiving.
    ///   - isSOS: Whether a new message of the category SOS ends receiving.
    public init(count: Int? = nil, isSOS: Bool = false) {
        self.count = count
        self.isSOS = isSOS
    }

    /// Whether the condition is met.
    public var hasCome: Bool { state.withLock { $0.newCount == count || isSOS && $0.hasSOS } }

    /// Counts new messages that were stored.
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

    /// Whether a message arrived after the number was reached. Such a message is stored, but is not part of the result.
    public func isSurplus(_ message: RescueMessage) -> Bool { state.withLock { $0.surplus.contains(message.id) } }
}
