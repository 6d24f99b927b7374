/// The dialogue between a host and a device: the state of the device, the command in flight, and the subscribers.
///
/// A conversation decides the meaning of each line, but uses no links, clocks, or tasks: its session sends, waits, and
/// measures time. The session owns the conversation, and uses it on the session's executor only.
struct Conversation<Family: DeviceFamily> {
    /// The state of the device, as far as it is known.
    private(set) var state = Family.State()
    private var flight: Flight?
    /// The reply that has ended the flight; nil if there is none.
    private var reply: Family.Reply?
    /// Whether the device has reported a start since the session began.
    var hasDeviceStarted = false
    /// Whether the next lines may be stale: answers to an earlier command, or to another program's command. If true,
    /// the session passes a fence, if the family has one, before its next query or change.
    private(set) var hearsThePast = false
    /// Lines are published as ``SessionEvent/heardBefore(_:)`` until the backlog is over.
    var backlog = Backlog.over
    /// Whether a command of this session has got its reply, and none has failed to get one since. If true, no error of
    /// an older command can still come, since the device answers in order.
    private(set) var areErrorsOwn = false
    /// Whether an answer to a command that this session has given up may still come.
    private var isOwedAnswer = false
    /// The number of fences that were sent, and whose replies have neither come nor been given up.
    private(set) var owedFences = 0
    /// Whether a command was answered before the fence that was sent after it: the device may not have read the fence
    /// yet. The next change then waits for the reply to the fence.
    private(set) var isFenceUnread = false
    /// The rule of the stop in progress; nil if there is none.
    private var stop: StopRule<Family>?
    /// Whether an acknowledgement of the stop was heard, in a flight or between two flights, since the stop began or
    /// was last undone.
    private(set) var isStopHeard = false
    /// Whether an answer was missing or was an error, or a line was heard that the protocol does not define: another
    /// program may use the device too. When the session is closed, it reports this to the link (``Link/noteDoubt()``).
    private(set) var isInDoubt = false
    /// The number of lines heard, by which a stop notices that the device still sends. Lines of the backlog, and a
    /// server's notices on the command in flight, are not counted.
    private(set) var heardCount: UInt64 = 0
    /// Whether somebody has undone the stop since it was last sent: until it is sent again, no acknowledgement counts.
    private var isStopUndone = false
    /// The effect of the command in flight or, between two flights, of the last command; nil in a pause.
    private var effectInFlight: CommandEffect?
    private var isStopInFlight: Bool { effectInFlight == .stop }
    /// Whether a stop is in progress.
    var isStopping: Bool { stop != nil }

    /// The state of the backlog: the input that arrived before the session began.
    enum Backlog {
        /// The backlog is being read.
        case arriving
        /// The backlog ended within a line, and the rest of this line has not come.
        case lineBegun
        /// The backlog has been read: lines are new from now on.
        case over
    }

    /// Matches lines with the command in flight; nil in a pause.
    private var exchange: Family.Exchange?
    private var subscribers: [UInt64: AsyncStream<SessionEvent<Family.Message>>.Continuation] = [:]
    /// Called with each event as soon as its line is heard, before the subscribers get the event.
    var observer: (@Sendable (SessionEvent<Family.Message>) -> Void)?
    /// The ID that was assigned last. Flights and subscribers share one numbering.
    private var lastID: UInt64 = 0

    // MARK: Commands

    /// Begins the flight of a command that is about to be sent. Returns the ID of the flight.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - errors: The meaning of an error that can answer the command.
    ///   - isSpoilerSent: Whether ``DeviceFamily/lineSpoiler`` is sent first. The next error then refuses the spoiled
    ///     line, not the command.
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

    /// Begins a pause: a flight without a command and a reply, which ends at its deadline at the latest.
    mutating func beginPause() -> UInt64 {
        lastID += 1
        flight = Flight(id: lastID, errors: .ignored, refusesSpoiler: false)
        (exchange, reply, effectInFlight) = (nil, nil, nil)
        return lastID
    }

    /// Returns the doubtful error of the flight (``Flight/doubtfulError``) once, and gives later errors of the flight
    /// the meaning `errors`. Returns nil if no such error waits to be handled.
    mutating func takeDoubtfulError(_ errors: Flight.ErrorTrust) -> String? {
        guard flight?.hasNews == true else { return nil }
        flight?.errors = errors
        return flight?.doubtfulError
    }

    /// Notes that the fence is sent after the command in flight, to confirm its doubtful error.
    mutating func fenceFlight() {
        owedFences += 1
        flight?.isFenced = true
    }

    /// Notes that a fence is sent.
    mutating func sendsFence() { owedFences += 1 }

    /// Notes that a server did not pass on a fence, so that no reply will come. If the notice may concern an older
    /// line, the server may have passed on the fence, so the fence still counts.
    mutating func writeOffFence() { if !isOwedAnswer { owedFences = max(0, owedFences - 1) } }

    /// Counts the replies to earlier fences as lost.
    mutating func forgetOwedFences() { (owedFences, isFenceUnread) = (0, false) }

    /// Begins a stop. From now on an acknowledgement of the stop counts also between two flights.
    mutating func begin(_ rule: StopRule<Family>) {
        stop = rule
        isStopHeard = false
    }

    /// Ends a stop.
    ///
    /// - Parameter isOwedAnswer: Whether the stop was sent several times, so that further acknowledgements may come.
    mutating func endStop(isOwedAnswer: Bool) {
        stop = nil
        guard isOwedAnswer else { return }
        hearsThePast = true
        areErrorsOwn = false
        self.isOwedAnswer = true
    }

    /// Whether there is no flight, or only one that has ended.
    var isOver: Bool { flight?.isOver ?? true }

    /// Ends the flight, if there is one.
    mutating func endFlight(_ ending: Flight.Ending) { flight?.end(ending) }

    /// Resumes the continuation as ``Flight/wait(_:)`` does. There must be a flight.
    mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) { flight?.wait(continuation) }

    /// Cancels the flight with this ID, unless it is over.
    mutating func cancel(_ id: UInt64) {
        if flight?.id == id { endFlight(.cancelled) }
    }

    /// Notes that the link does not accept the bytes of the flight at once.
    ///
    /// - Parameter isCommand: Whether the bytes are the command's own; false for a query or fence that is sent after
    ///   the command to clear up an error.
    mutating func beginSending(ofCommand isCommand: Bool) { flight?.beginSending(ofCommand: isCommand) }

    /// Notes that the link has accepted the bytes of the flight with this ID.
    mutating func endSending(_ id: UInt64) {
        if flight?.id == id { flight?.endSending() }
    }

    /// Notes that the link did not accept the command of the flight with this ID.
    mutating func sendingFailed(_ id: UInt64) {
        if flight?.id == id { endFlight(.notSent) }
    }

    /// Notes that the link did not accept the stop of the flight with this ID. The failure counts also for a later
    /// flight of a stop. If the error is temporary (`busy`, `timedOut`, or `unavailable`), the stop is sent again;
    /// otherwise the flight ends.
    mutating func stopSendingFailed(_ id: UInt64, _ error: LinkError) {
        guard isStopping || flight?.id == id else { return }
        switch error.code {
        case .busy, .timedOut, .unavailable: break
        default: endFlight(.lost(error))
        }
    }

    /// Whether the flight has ended by an answer.
    var isAnswered: Bool { flight?.ending?.isAnswer ?? false }

    /// Whether the flight has ended because the link did not accept its command.
    var isSendingFailed: Bool { if case .notSent = flight?.ending { true } else { false } }

    /// Removes and returns the flight, however it has ended. Later lines are events.
    mutating func removeFlight() -> Flight? {
        defer { flight = nil }
        switch flight?.ending {
        case .refused, .timedOut: if exchange != nil { isInDoubt = true }
        default: break
        }
        return flight
    }

    /// Removes the flight and returns its reply, if the reply has ended it. Otherwise leaves the flight, and returns
    /// nil.
    ///
    /// - Parameter provesPresent: Whether the reply proves that nothing older can still come, since the device answers
    ///   in order. The acknowledgement of a stop proves nothing: it may answer an earlier sending of the stop.
    mutating func removeRepliedFlight(provesPresent: Bool = true) -> Family.Reply? {
        guard case .replied = flight?.ending, let reply = reply.take() else { return nil }
        isFenceUnread = isFenceUnread || flight?.isFenced == true && owedFences > 0
        flight = nil
        if provesPresent {
            hearsThePast = false
            areErrorsOwn = true
            isOwedAnswer = false
        }
        return reply
    }

    /// Notes that a command may have been sent, and that its reply was not heard.
    mutating func doubt(_ command: Family.Command) {
        hearsThePast = true
        areErrorsOwn = false
        isOwedAnswer = true
        if Family.effect(of: command) != .query { state.becomeUncertain() }
    }

    // MARK: Lines

    /// Notes that the next lines may answer the commands of another program.
    mutating func expectThePast() { hearsThePast = true }

    /// Processes one line: as a part of the answer to the command in flight, or as an event.
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

    /// Processes a message during a flight. Returns whether the message belongs to the command in flight.
    private mutating func isForFlight(_ message: Family.Message) -> Bool {
        if flight?.isFenced == true, Family.isFenceReply(message), owedFences == 0 {
            // If the device had carried out the command, the reply to the command would have come before the fence's
            // reply.
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

    /// Processes a notice of a server that shares the device. Returns whether the notice was for the command in flight,
    /// and needs no further processing.
    private mutating func isTakenIn(_ notice: RelayNotice) -> Bool {
        switch notice {
        case .lost, .back:
            state.becomeUncertain()
            return false
        case .notSent, .overtaken: return turnsFlightAway(notice)
        }
    }

    /// Processes a server's notice that it did not send a line. Returns whether this line was the command in flight, or
    /// the spoiler sent before it.
    ///
    /// The server sends this notice to the session whose line it did not send, in order with other answers. So the
    /// notice certainly concerns the command in flight only if no older answer is due. For a query or OFF a guess is
    /// good enough: a query that wrongly counts as refused does no harm, and OFF is sent again.
    private mutating func turnsFlightAway(_ notice: RelayNotice) -> Bool {
        guard flight?.awaitsReply == true, let effectInFlight else { return false }
        guard effectInFlight != .change || !isOwedAnswer else { return false }
        if flight?.refusesSpoiler == true {
            flight?.refusesSpoiler = false
            return true
        }
        // After a doubtful error, the notice concerns the query or fence that was sent to clear up the error. Only a
        // change is overtaken: the server keeps queries, and sends them after the stop.
        guard flight?.doubtfulError == nil, notice == .notSent || effectInFlight == .change else { return false }
        endFlight(.turnedAway(notice, isCertain: effectInFlight == .query || !isOwedAnswer))
        return true
    }

    /// Processes an error that can answer the command in flight. Returns whether the error is certain to be the answer.
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

    // MARK: Subscribers

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

    /// Ends the conversation, because the link is gone or closed. The state of the device can't be known, and no
    /// further line will be heard.
    ///
    /// - Parameter ending: The ending of the command in flight.
    mutating func endForGood(_ ending: Flight.Ending) {
        state.becomeUncertain()
        endFlight(ending)
        for subscriber in subscribers.values { subscriber.finish() }
        subscribers = [:]
    }
}
