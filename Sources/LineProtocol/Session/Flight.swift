/// The command in flight, as far as it is the same for every family.
///
/// It belongs to a session and is touched on its executor only.
struct Flight {
    /// How a flight ended.
    enum Ending {
        /// The reply has come, and waits in the conversation.
        case replied
        case refused(String)
        /// A server that shares the device has not sent it: `notSent`, or `overtaken`. Where that is not certain, it may be the
        /// answer to something older.
        case turnedAway(RelayNotice, isCertain: Bool)
        case timedOut
        /// A stop went before it.
        case overtaken
        case cancelled
        case lost(LinkError)
        case closed
        /// The link did not take the command, or only a part.
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
    /// What an error that can answer the command means.
    var errors: ErrorTrust
    /// An error that may be this command's, or that of something older; it wakes who waits, to find out.
    private(set) var doubtfulError: String?
    /// Whether the next ERROR answers the spoiled line, not this command.
    var refusesSpoiler: Bool
    /// Whether the fence is in flight behind the command: its reply confirms the doubtful error.
    var isFenced = false
    private(set) var ending: Ending?
    /// Whether the link has yet to take the bytes. What comes meanwhile may answer another host: it counts once they are
    /// taken, and not if they are taken back.
    private var isBeingSent = false
    /// Whether those bytes are the command's own, and not those of a question behind it.
    private var isCommandBeingSent = false
    /// How the flight ends once its bytes are taken.
    private var answer: Ending?
    /// The last line of the flight that the protocol does not know.
    var foreignLine: [UInt8]?
    private var waiter: UnsafeContinuation<Void, Never>?

    /// What an error that can answer the command means.
    enum ErrorTrust {
        /// Nothing older can still answer: it is this command's.
        case own
        /// It may be the answer to something older: that has to be found out.
        case doubtful
        /// It is that of something older, or makes no difference: the flight goes on.
        case ignored
    }

    init(id: UInt64, errors: ErrorTrust, refusesSpoiler: Bool) {
        self.id = id
        self.errors = errors
        self.refusesSpoiler = refusesSpoiler
    }

    var isOver: Bool { if case nil = ending { false } else { true } }

    /// Whether its reply is yet to come; an error does not preclude one.
    var awaitsReply: Bool { if case .replied = answer { false } else { !isOver } }

    /// Takes in another error while the first one's origin is found out: the last is the most likely to be its own.
    mutating func noteError(_ code: String) {
        if isFenced { doubtfulError = code }
    }

    /// Resumed when the flight is over, or an error of doubtful origin has come that nobody has looked at.
    mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        if isOver || hasNews { continuation.resume() } else { waiter = continuation }
    }

    /// Whether an error of doubtful origin waits to be looked at.
    var hasNews: Bool { doubtfulError != nil && errors == .doubtful && !isBeingSent }

    /// The link is handed bytes that it does not take at once.
    mutating func beginSending(ofCommand isCommand: Bool) { (isBeingSent, isCommandBeingSent) = (true, isCommand) }

    /// The link has taken them.
    mutating func endSending() {
        isBeingSent = false
        if let answer { end(answer) } else if hasNews { wake() }
    }

    private mutating func wake() {
        waiter?.resume()
        waiter = nil
    }

    /// Takes in an error of doubtful origin: the first wakes who waits, and the flight goes on.
    mutating func doubt(_ code: String) {
        guard doubtfulError == nil else { return }
        doubtfulError = code
        if hasNews { wake() }
    }

    /// Ends the flight; what comes behind the first end changes nothing.
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
