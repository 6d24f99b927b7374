/// What passes between a host and a device: the state of the device, the command in flight, and who listens.
///
/// It knows nothing of links, time or tasks. A session holds one and touches it on its executor only.
struct Conversation<Family: DeviceFamily> {
    /// What is known of the device.
    private(set) var state = Family.State()
    private var flight: Flight?
    /// What ended the flight, where that was the reply.
    private var reply: Family.Reply?
    /// The device has said that it starts, or had to be waited for.
    var hasDeviceStarted = false
    /// What is heard from now on may still belong to an earlier command, or to an earlier user of the link.
    private(set) var hearsThePast = false
    var backlog = Backlog.over

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
    private var lastID: UInt64 = 0

    // MARK: Commands

    /// A command is about to be sent; returns the name of its flight.
    ///
    /// - Parameters:
    ///   - trustsErrors: Whether an error that can answer the command does.
    ///   - isSpoilerSent: Whether ``DeviceFamily/lineSpoiler`` goes first, which the device refuses.
    mutating func begin(_ command: Family.Command, trustsErrors: Bool, isSpoilerSent: Bool) -> UInt64 {
        lastID += 1
        flight = Flight(id: lastID, trustsErrors: trustsErrors, refusesSpoiler: isSpoilerSent)
        exchange = Family.exchange(for: command)
        reply = nil
        return lastID
    }

    /// Whether no command is in flight that waits for its end.
    var isOver: Bool { flight?.isOver ?? true }

    /// The command in flight, if there is one, has come to its end.
    mutating func end(_ ending: Flight.Ending) { flight?.end(ending) }

    mutating func wait(_ continuation: UnsafeContinuation<Void, Never>) { flight?.wait(continuation) }

    /// Cancels the flight of that name, unless it is over.
    mutating func cancel(_ id: UInt64) {
        if flight?.id == id { end(.cancelled) }
    }

    /// The link did not take the command of the flight of that name.
    mutating func sendingFailed(_ id: UInt64) {
        if flight?.id == id { end(.notSent) }
    }

    /// Whether the flight ended because the device answered.
    var isAnswered: Bool {
        switch flight?.ending {
        case .replied, .refused: true
        default: false
        }
    }

    /// Whether the flight ended because the link did not take its command.
    var isSendingFailed: Bool { if case .notSent = flight?.ending { true } else { false } }

    /// Takes out the flight, which nothing follows any more.
    mutating func finish() -> Flight? {
        defer { flight = nil }
        return flight
    }

    /// Takes out the reply, if that is how the flight ended: what is heard from now on is news.
    mutating func takeReply() -> Family.Reply? {
        guard let reply else { return nil }
        self.reply = nil
        flight = nil
        hearsThePast = false
        return reply
    }

    /// A command was sent and its reply was not heard.
    mutating func doubt(_ command: Family.Command) {
        hearsThePast = true
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
        if flight?.isOver == false {
            if Family.isForeign(message) { flight?.foreignLine = line.withUnsafeBufferPointer { Array($0) } }
            switch exchange?.take(message) {
            case .partial: return
            case .complete(let reply):
                self.reply = reply
                state.apply(message)
                return end(.replied)
            case .refused where flight?.refusesSpoiler == true:
                flight?.refusesSpoiler = false
                return
            case .refused(let code) where flight?.trustsErrors == true:
                state.apply(message)
                return end(.refused(code))
            case .refused, .unrelated, nil: break
            }
        }
        state.overhear(message)
        publish(.heard(message))
    }

    // MARK: Who listens

    mutating func subscribe(_ continuation: AsyncStream<SessionEvent<Family.Message>>.Continuation) -> UInt64 {
        lastID += 1
        subscribers[lastID] = continuation
        return lastID
    }

    mutating func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    func publish(_ event: SessionEvent<Family.Message>) {
        for subscriber in subscribers.values { subscriber.yield(event) }
    }

    /// The link is gone or closed: the state of the device can't be known, and nothing else is heard.
    mutating func end(with ending: Flight.Ending) {
        state.becomeUncertain()
        end(ending)
        for subscriber in subscribers.values { subscriber.finish() }
        subscribers = [:]
    }
}
