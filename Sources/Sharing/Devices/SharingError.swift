public import LineProtocol

/// The reason why a line for a shared device was not sent, was refused, or got no reply.
public enum SharingError: Error, Sendable, Hashable {
    /// The device is not there, or this process was stopped (SIGSTOP) before the line's turn. The line was not sent and
    /// is not kept.
    case away
    /// Any other reason, for example that the device refused the line, or that OFF had priority.
    case session(SessionError)

    /// The notice for the client in the line protocol; nil if the line was sent, or its client has left.
    var notice: RelayNotice? {
        switch self {
        case .away: .notSent
        case .session(let error):
            // Hosts read a notice as a refusal, which would claim that a line that was sent has changed nothing.
            switch (error.code, error.outcome) {
            case (.overtaken, .notSent): .overtaken
            // A client that has left gets no notice.
            case (.cancelled, _): nil
            case (_, .notSent): .notSent
            default: nil
            }
        }
    }

    /// Whether the client may have received the beginning of an answer, and will not receive the rest. True only for
    /// queries that were sent: their outcome is `nothingChanged`.
    var breaksOffAnswer: Bool {
        guard case .session(let error) = self, error.outcome == .nothingChanged else { return false }
        return switch error.code {
        case .linkLost, .closed, .notUnderstood: true
        case .refused, .noAnswer, .unconfirmed, .notInEffect, .cancelled, .overtaken, .deviceAway: false
        }
    }
}
