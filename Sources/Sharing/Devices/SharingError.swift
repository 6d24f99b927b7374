public import LineProtocol

/// Why a line brought no answer from a shared device.
public enum SharingError: Error, Sendable, Hashable {
    /// The device is not there: the line was not sent, and is not kept.
    case away
    /// The device has refused it, has not answered, or was lost; ``LineProtocol/SessionError/outcome`` tells what is known.
    case session(SessionError)

    /// What a client is told by the line protocol; nil where that would say more than is known.
    var refusal: SharedFamily.Refusal? {
        switch self {
        case .away: .deviceAway
        case .session(let error):
            switch error.code {
            case .overtaken: .overtaken
            case .linkLost, .closed: error.outcome == .notSent ? .deviceAway : nil
            case .refused, .noAnswer, .notUnderstood, .cancelled: nil
            }
        }
    }
}
