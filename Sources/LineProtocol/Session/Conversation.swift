/// What passes between a host and a device: the state of the device, the command in flight, and who listens.
///
/// It knows nothing of links, time or tasks. A session holds one and touches it on its executor only.
struct Conversation<Family: DeviceFamily> {
    /// What is known of the device.
    private(set) var state = Family.State()
    private var flight: Flight?
    /// What ended the flight, where that was the reply.
    private var reply: Family.Reply?
    /// The device has said that it starts.
    var hasDeviceStarted = false
    /// What is heard from now on may still belong to an earlier command, or to an earlier user of the link.
    private(set) var hearsThePast = false
    var backlog = Backlog.over
    /// Whether a reply of this session has come since it began, or since one failed to: the device answers in order, so
    /// no error of an older command is still to come.
    private(set) var areErrorsOwn = false
    /// Whether an answer to something that this session has sent, and given up, may still come.
    private var isOwedAnswer = false
    /// How many fences were sent whose reply has not come.
    private(set) var owedFences = 0
    /// Whether the fence behind a command was not answered when the command was: the device may not have read it yet.
    private(set) var isFenceUnread = false
    /// The stop that goes on.
    private var stop: StopRule<Family>?
    /// Whether the stop's acknowledgement was heard since the stop began, in a flight or between two.
    private(set) var isStopHeard = false
    /// Whether an answer did not come, was an error, or something was heard that the protocol does not know.
    private(set) var isInDoubt = false
    /// The number of lines that the device has said.
    private(set) var heardCount: UInt64 = 0
    /// Whether somebody has undone the stop since it was sent last: no acknowledgement counts before it is sent again.
    private var isStopUndone = false
    /// What the command in flight does to the device; nil in a pause.
    private var effectInFlight: CommandEffect?
    private var isStopInFlight: Bool { effectInFlight == .stop }
    /// Whether a stop goes on.
    var isStopping: Bool { stop != nil }

    /// What had arrived before the session began.
    enum Backlog {
        /// It is being taken in.
        case arriving
        /// It ended within a line, and what completes that line is yet to come.
        case lineBegun
        /// What is heard is new.
        case over
    }

    private var exchange: Family.Exchange?
    private var subscribers: [UInt64: AsyncStream<SessionEvent<Family.Message>>.Continuation] = [:]
    /// Told of each event at once, in the order of what is heard.
    var observer: (@Sendable (SessionEvent<Family.Message>) -> Void)?
    private var lastID: UInt64 = 0

    // MARK: Commands

    /// A command is about to be sent; returns the name of its flight.
    ///
    /// - Parameters:
    ///   - errors: What an error that can answer the command means.
    ///   - isSpoilerSent: Whether ``DeviceFamily/lineSpoiler`` goes first, which the device refuses.
    mutating func begin(
        _ command: Family.Command, errors: Flight.ErrorTrust, isSpoilerSent: Bool
    ) -> UInt64 {
        lastID += 1
        flight = Flight(id: lastID, errors: errors, refusesSpoiler: isSpoilerSent)
        exchange = Family.exchange(for: command)
        reply = nil
        effectInFlight = Family.effect(of: command)
        if isStopInFlight { isStopUndone = false }
        return lastID
    }

    /// Begins a flight in which nothing is sent and nothing is a reply: it ends by time, or because something is urgent.
    mutating func beginPause() -> UInt64 {
        lastID += 1
        flight = Flight(id: lastID, errors: .ignored, refusesSpoiler: false)
        (exchange, reply, effectInFlight) = (nil, nil, nil)
        return lastID
    }

    /// Returns the doubtful error that nobody has looked at, and sets how later errors are treated.
    mutating func takeDoubtfulError(_ errors: Flight.ErrorTrust) -> String? {
        guard flight?.hasNews == true else { return nil }
        flight?.errors = errors
        return flight?.doubtfulError
    }

    /// The fence is sent behind the command in flight, to confirm its doubtful error.
    mutating func fenceFlight() {
        owedFences += 1
        flight?.isFenced = true
    }

    /// A fence is sent.
    mutating func sendsFence() { owedFences += 1 }

    /// A fence that was sent gets no reply: a server has not passed it on, unless that was said of something older.
    mutating func writeOffFence() { if !isOwedAnswer { owedFences = max(0, owedFences - 1) } }

    /// The replies to earlier fences count as lost.
    mutating func forgetOwedFences() { (owedFences, isFenceUnread) = (0, false) }

    /// A stop begins: its acknowledgement counts whenever it comes.
    mutating func begin(_ rule: StopRule<Family>) {
        stop = rule
        isStopHeard = false
    }

    /// A stop has ended.
    ///
    /// - Parameter isOwedAnswer: Whether it was sent more than once, so that other acknowledgements are still to come.
    mutating func endStop(isOwedAnswer: Bool) {
        stop = nil
        guard isOwedAnswer else { return }
        hearsThePast = true
        areErrorsOwn = false
        self.isOwedAnswer = true
    }

    /// Whether no command is in flight that waits for its end.
    var isOver: Bool { flight?.isOver ?? true }

    /// The command in flight, if there is one, has come to its end.
    mutating func endFlight(_ ending: Flight.Ending) { flight?.end(ending) }

    mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) { flight?.wait(continuation) }

    /// Cancels the flight of that name, unless it is over.
    mutating func cancel(_ id: UInt64) {
        if flight?.id == id { endFlight(.cancelled) }
    }

    /// The link does not take the bytes of the command in flight at once.
    ///
    /// - Parameter isCommand: Whether they are the command's own, and not those of a question behind it.
    mutating func beginSending(ofCommand isCommand: Bool) { flight?.beginSending(ofCommand: isCommand) }

    /// The link has taken the bytes of the flight of that name.
    mutating func endSending(_ id: UInt64) {
        if flight?.id == id { flight?.endSending() }
    }

    /// The link did not take the command of the flight of that name.
    mutating func sendingFailed(_ id: UInt64) {
        if flight?.id == id { endFlight(.notSent) }
    }

    /// The link did not take the stop that was sent in the flight of that name; a later flight is told of it as well. It
    /// ends the stop where the link is gone or refuses for good; else the stop is sent again.
    mutating func stopSendingFailed(_ id: UInt64, _ error: LinkError) {
        guard isStopping || flight?.id == id else { return }
        switch error.code {
        case .busy, .timedOut, .unavailable: break
        default: endFlight(.lost(error))
        }
    }

    /// Whether the flight ended because the device answered.
    var isAnswered: Bool { flight?.ending?.isAnswer ?? false }

    /// Whether the flight ended because the link did not take its command.
    var isSendingFailed: Bool { if case .notSent = flight?.ending { true } else { false } }

    /// Takes out the flight, however it has ended: what is heard from now on is news.
    mutating func removeFlight() -> Flight? {
        defer { flight = nil }
        switch flight?.ending {
        case .refused, .timedOut: if exchange != nil { isInDoubt = true }
        default: break
        }
        return flight
    }

    /// Takes out the flight if the reply has ended it, and returns the reply; else leaves it, and returns nil.
    ///
    /// - Parameter provesPresent: Whether nothing older is still to come, since the device answers in order. The
    ///   acknowledgement of a stop does not prove it: it may be that of an earlier stop.
    mutating func removeRepliedFlight(provesPresent: Bool = true) -> Family.Reply? {
        guard case .replied = flight?.ending, let reply else { return nil }
        self.reply = nil
        isFenceUnread = isFenceUnread || flight?.isFenced == true && owedFences > 0
        flight = nil
        if provesPresent {
            hearsThePast = false
            areErrorsOwn = true
            isOwedAnswer = false
        }
        return reply
    }

    /// A command was sent and its reply was not heard.
    mutating func doubt(_ command: Family.Command) {
        hearsThePast = true
        areErrorsOwn = false
        isOwedAnswer = true
        if Family.effect(of: command) != .query { state.becomeUncertain() }
    }

    // MARK: What is heard

    /// What is heard next may answer what somebody else has sent.
    mutating func expectThePast() { hearsThePast = true }

    /// Takes in one line.
    mutating func hear(_ line: Span<UInt8>, _ ending: LineEnding) {
        let message = Family.message(line: line, ending: ending)
        if backlog != .over {
            if backlog == .lineBegun { backlog = .over }
            return publish(.heardBefore(message))
        }
        if Family.isStart(message) { hasDeviceStarted = true }
        if Family.isFenceReply(message) { (owedFences, isFenceUnread) = (max(0, owedFences - 1), false) }
        if let notice = Family.relayNotice(by: message), isTakenIn(notice) { return }
        heardCount += 1
        if let stop { hear(message, of: stop) }
        let isForeign = Family.isForeign(message)
        if isForeign { isInDoubt = true }
        if flight?.awaitsReply == true {
            if isForeign { flight?.foreignLine = line.withUnsafeBufferPointer { Array($0) } }
            if isForFlight(message) { return }
        }
        state.overhear(message)
        publish(.heard(message))
    }

    /// Takes in what was heard while a command is in flight; returns whether it belongs to the command.
    private mutating func isForFlight(_ message: Family.Message) -> Bool {
        if flight?.isFenced == true, Family.isFenceReply(message), owedFences == 0 {
            // Had the device carried out the command, it would have said so before.
            state.apply(message)
            endFlight(.refused(flight?.doubtfulError ?? ""))
            return true
        }
        switch exchange?.take(message) {
        case .partial: return true
        case .complete where isStopInFlight && isStopUndone: return false
        case .complete(let reply):
            self.reply = reply
            state.apply(message)
            endFlight(.replied)
            return true
        case .refused where flight?.refusesSpoiler == true:
            flight?.refusesSpoiler = false
            return true
        case .refused(let code): return isRefusal(message, code)
        case .unrelated, nil: return false
        }
    }

    /// Takes in what a server that shares the device says; returns whether there is no more to it.
    private mutating func isTakenIn(_ notice: RelayNotice) -> Bool {
        switch notice {
        case .lost, .back:
            state.becomeUncertain()
            return false
        case .notSent, .overtaken: return turnsFlightAway(notice)
        }
    }

    /// A server has not sent a line; returns whether that is the command in flight.
    ///
    /// It answers this session alone, in order: only where no older answer is to come is it that of the command. A question
    /// that is taken for refused does no harm, and OFF is sent again.
    private mutating func turnsFlightAway(_ notice: RelayNotice) -> Bool {
        guard flight?.awaitsReply == true, let effectInFlight else { return false }
        guard effectInFlight != .change || !isOwedAnswer else { return false }
        if flight?.refusesSpoiler == true {
            flight?.refusesSpoiler = false
            return true
        }
        // Behind a doubtful error it answers the question that was sent to find out about that.
        guard flight?.doubtfulError == nil, notice == .notSent || effectInFlight == .change else { return false }
        endFlight(.turnedAway(notice, isCertain: effectInFlight == .query || !isOwedAnswer))
        return true
    }

    /// Takes in an error that can answer the command in flight; returns whether it does.
    private mutating func isRefusal(_ message: Family.Message, _ code: String) -> Bool {
        switch flight?.errors {
        case .own:
            state.apply(message)
            endFlight(.refused(code))
            return true
        case .doubtful: flight?.doubt(code)
        case .ignored: flight?.noteError(code)
        case nil: break
        }
        return false
    }

    private mutating func hear(_ message: Family.Message, of stop: StopRule<Family>) {
        if stop.isUndone(message) {
            isStopUndone = true
            isStopHeard = false
        } else if !isStopUndone, stop.isAcknowledgement(message) {
            isStopHeard = true
        }
    }

    // MARK: Who listens

    mutating func subscribe(_ continuation: AsyncStream<SessionEvent<Family.Message>>.Continuation) -> UInt64 {
        lastID += 1
        subscribers[lastID] = continuation
        return lastID
    }

    mutating func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    func publish(_ event: SessionEvent<Family.Message>) {
        observer?(event)
        for subscriber in subscribers.values { subscriber.yield(event) }
    }

    /// The link is gone or closed: the state of the device can't be known, and nothing else is heard.
    ///
    /// - Parameter ending: How the command in flight has ended by that.
    mutating func endForGood(_ ending: Flight.Ending) {
        state.becomeUncertain()
        endFlight(ending)
        for subscriber in subscribers.values { subscriber.finish() }
        subscribers = [:]
    }
}
