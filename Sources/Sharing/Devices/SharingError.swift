public import LineProtocol

/// The reason why a line got no reply from a shared device.
public enum SharingError: Error, Sendable, Hashable {
    /// The device is not there, or this process was stopped (SIGSTOP) before the line's turn. The line was not sent and
    /// is not kept.
    case away
    /// The device refused the line, did not answer, or was lost; see ``LineProtocol/SessionError/outcome``.
    case session(SessionError)

    /// The notice for the client in the line protocol; nil if a notice would claim more than is known.
    var notice: RelayNotice? {
        switch self {
        case .away: .notSent
        case .session(let error):
            // The outcome of a line that was sent is unknown. A refusal would claim that nothing has changed.
            switch (error.code, error.outcome) {
            case (.overtaken, .notSent): .overtaken
            // A client that has left gets no notice.
            case (.cancelled, _): nil
            case (_, .notSent): .notSent
            default: nil
            }
        }
    }

    /// Whether an answer may have begun and broken off.
    var breaksOffAnswer: Bool {
        guard case .session(let error) = self, error.outcome == .nothingChanged else { return false }
        return switch error.code {
        case .linkLost, .closed, .notUnderstood: true
        case .refused, .noAnswer, .unconfirmed, .notInEffect, .cancelled, .overtaken, .deviceAway: false
        }
    }
}
