/// The command in flight, as far as it is the same for every family.
///
/// It belongs to a session and is touched on its executor only.
struct Flight {
    /// How a flight ended.
    enum Ending {
        /// The reply has come, and waits in the conversation.
        case replied
        case refused(String)
        case timedOut
        case cancelled
        case lost(LinkError)
        case closed
        /// The link did not take the command, or only a part.
        case notSent
    }

    let id: UInt64
    /// Whether an error that can answer the command does, and is not one of an earlier command that comes late.
    let trustsErrors: Bool
    /// Whether the next refusal is that of the line which was spoiled.
    var refusesSpoiler: Bool
    private(set) var ending: Ending?
    /// The last line of the flight that the protocol does not know.
    var foreignLine: [UInt8]?
    private var waiter: UnsafeContinuation<Void, Never>?

    init(id: UInt64, trustsErrors: Bool, refusesSpoiler: Bool) {
        self.id = id
        self.trustsErrors = trustsErrors
        self.refusesSpoiler = refusesSpoiler
    }

    var isOver: Bool { if case nil = ending { false } else { true } }

    /// Resumed when the flight is over.
    mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        if isOver { continuation.resume() } else { waiter = continuation }
    }

    /// Ends the flight; what comes behind the first end changes nothing.
    mutating func end(_ ending: Ending) {
        if isOver { return }
        self.ending = ending
        waiter?.resume()
        waiter = nil
    }
}
