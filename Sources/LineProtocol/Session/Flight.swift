/// The course of one command in flight, from its sending to its ending, such as the reply or the deadline. The parts
/// that depend on the family are in ``Conversation``.
///
/// A flight belongs to a session, and is used on the session's executor only.
struct Flight {
    /// The ending of a flight.
    enum Ending {
        /// The reply has come, and is kept in the conversation.
        case replied
        /// The device refused the command with the given code.
        case refused(String)
        /// A server that shares the device gave the notice `notSent` or `overtaken`: it did not send the command. If
        /// not certain, the notice may concern an older line.
        case turnedAway(RelayNotice, isCertain: Bool)
        case timedOut
        /// A stop was requested, and goes first.
        case overtaken
        case cancelled
        // Indirect: the error is large, and every use of an ending would copy its storage.
        indirect case lost(LinkError)
        case closed
        /// The link accepted only a part of the bytes, or none.
        case notSent

        var isRefusal: Bool { if case .refused = self { true } else { false } }

        /// Whether the device, or a server that shares it, has answered.
        var isAnswer: Bool {
            switch self {
            case .replied, .refused, .turnedAway: true
            default: false
            }
        }
    }

    let id: UInt64
    /// The meaning of an error that can answer the command.
    var errors: ErrorTrust
    /// An error that may answer this command or an older one. The error wakes the waiting session, which finds out
    /// which command it answers (``Session/clearUpError(of:_:)``).
    private(set) var doubtfulError: String?
    /// Whether the next error answers the spoiled line, not this command.
    var refusesSpoiler: Bool
    /// Whether the fence was sent after the command. The reply to the fence confirms the doubtful error.
    var isFenced = false
    private(set) var ending: Ending?
    /// Whether the link has not yet accepted the bytes. An answer that comes before they are accepted may be for
    /// another host: it counts once they are accepted.
    private var isBeingSent = false
    /// Whether these bytes are the command's own; false for a query or fence that is sent after the command to clear up
    /// an error. In that case only a refusal has to wait until they are accepted.
    private var isCommandBeingSent = false
    /// The ending that takes effect once the bytes are accepted.
    private var answer: Ending?
    /// The last line during the flight that the protocol does not define.
    var foreignLine: [UInt8]?
    private var waiter: UnsafeContinuation<Void, Never>?

    /// The meaning of an error that can answer the command.
    enum ErrorTrust {
        /// The error answers this command, since no older line can still be answered.
        case own
        /// The error may answer an older line, and the session has to find out.
        case doubtful
        /// The error answers an older line, or makes no difference: the flight goes on.
        case ignored
    }

    init(id: UInt64, errors: ErrorTrust, refusesSpoiler: Bool) {
        self.id = id
        self.errors = errors
        self.refusesSpoiler = refusesSpoiler
    }

    var isOver: Bool { if case nil = ending { false } else { true } }

    /// Whether the reply may still come. An error that waits until the bytes are accepted does not rule out a reply.
    var awaitsReply: Bool { if case .replied = answer { false } else { !isOver } }

    /// Notes a further error. If a fence was sent to clear up the first one, the last error most likely answers this
    /// command.
    mutating func noteError(_ code: String) {
        if isFenced { doubtfulError = code }
    }

    /// Resumes the continuation when the flight is over, or when there is a doubtful error that nobody has handled.
    mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        if isOver || hasNews { continuation.resume() } else { waiter = continuation }
    }

    /// Whether there is a doubtful error that the session has not handled, and the link has accepted the bytes.
    var hasNews: Bool { doubtfulError != nil && errors == .doubtful && !isBeingSent }

    /// Notes that the link was given bytes that it does not accept at once.
    mutating func beginSending(ofCommand isCommand: Bool) { (isBeingSent, isCommandBeingSent) = (true, isCommand) }

    /// Notes that the link has accepted the bytes.
    mutating func endSending() {
        isBeingSent = false
        if let answer { end(answer) } else if hasNews { wake() }
    }

    private mutating func wake() {
        waiter?.resume()
        waiter = nil
    }

    /// Notes a doubtful error. The first one wakes the waiting caller, and the flight goes on.
    mutating func doubt(_ code: String) {
        guard doubtfulError == nil else { return }
        doubtfulError = code
        if hasNews { wake() }
    }

    /// Ends the flight, at once or, for an answer that comes too early, when the bytes are accepted. Does nothing if
    /// the flight is over.
    mutating func end(_ ending: Ending) {
        if isOver { return }
        if isBeingSent, isCommandBeingSent ? ending.isAnswer : ending.isRefusal {
            answer = ending
            return
        }
        self.ending = ending
        wake()
    }
}
