public import LineProtocol

/// Why a line brought no answer from a shared device.
public enum SharingError: Error, Sendable, Hashable {
    /// The device is not there, or this process was stopped and could not reach it: the line was not sent, and is not kept.
    case away
    /// The device has refused it, has not answered, or was lost; ``LineProtocol/SessionError/outcome`` tells what is known.
    case session(SessionError)

    /// What a client is told by the line protocol; nil where that would say more than is known.
    var notice: RelayNotice? {
        switch self {
        case .away: .notSent
        case .session(let error):
            // Of what was sent nobody knows what became of it: to refuse it would be to say that nothing has changed.
            switch (error.code, error.outcome) {
            case (.overtaken, .notSent): .overtaken
            // Whoever has left is told nothing.
            case (.cancelled, _): nil
            case (_, .notSent): .notSent
            default: nil
            }
        }
    }

    /// Whether an answer may have begun that is not going on.
    var breaksOffAnswer: Bool {
        guard case .session(let error) = self, error.outcome == .nothingChanged else { return false }
        return switch error.code {
        case .linkLost, .closed, .notUnderstood: true
        case .refused, .noAnswer, .unconfirmed, .notInEffect, .cancelled, .overtaken, .deviceAway: false
        }
    }
}
