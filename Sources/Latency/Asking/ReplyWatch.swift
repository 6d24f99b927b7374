internal import LineProtocol
internal import Synchronization

/// Notes what arrives and when, and tells whether it answers the question that is under way.
final class ReplyWatch: Sendable {
    /// How a question has ended.
    enum Outcome: Sendable {
        /// It was answered; what arrived, up to the end of the answer.
        case answered([LatencySample.Arrival])
        /// It was answered, and something else came meanwhile.
        case disturbed
        /// The device refused it, by this line.
        case refused([UInt8])
    }

    /// Why the waiter wakes.
    enum Event: Sendable {
        case changed
        /// The time of the question of that number is over.
        case timeIsUp(Int)
    }

    private struct State {
        var arrivals: [LatencySample.Arrival] = []
        var line: [UInt8] = []
        var isAsking = false
        var isDisturbed = false
        var outcome: Outcome?
        var lastLine: [UInt8]?
        var lastArrival: Duration?
        var end: LinkError??
    }

    let events: AsyncStream<Event>
    private let wake: AsyncStream<Event>.Continuation
    private let question: LatencyQuestion
    private let keepsPacketBounds: Bool
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())

    init(_ question: LatencyQuestion, keepsPacketBounds: Bool, now: @escaping @Sendable () -> Duration) {
        (events, wake) = AsyncStream.makeStream()
        (self.question, self.keepsPacketBounds, self.now) = (question, keepsPacketBounds, now)
    }

    // MARK: What happens

    /// Takes in what the link hands over. The time is read first.
    func take(_ arrival: LinkArrival) {
        let time = now()
        let isOver = state.withLock { state in
            switch arrival {
            case .ended(let error): state.end = .some(error)
            case .bytes(let bytes): take(bytes, at: time, &state)
            }
            return state.end != nil || state.outcome != nil
        }
        if isOver { wake.yield(.changed) }
    }

    func noteTimeUp(_ number: Int) { wake.yield(.timeIsUp(number)) }

    private func take(_ bytes: [UInt8], at time: Duration, _ state: inout State) {
        state.lastArrival = time
        if state.isAsking, state.outcome == nil {
            state.arrivals.append(LatencySample.Arrival(time, bytes.count))
        }
        for byte in bytes {
            if byte == UInt8(ascii: "\n") { endLine(&state) } else { state.line.append(byte) }
        }
        // A packet is a whole, whether or not a line end is in it.
        if keepsPacketBounds { endLine(&state) }
        // What has no end is no line of any family.
        if state.line.count > 1 << 20 { state.line = [] }
    }

    private func endLine(_ state: inout State) {
        var line = state.line
        state.line = []
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        line = line.withoutNULs
        guard !line.isEmpty else { return }
        state.lastLine = line
        guard state.isAsking, state.outcome == nil else { return }
        let text = String(decoding: line, as: UTF8.self)
        if question.isReply(text) {
            state.outcome = state.isDisturbed ? .disturbed : .answered(state.arrivals)
        } else if text.hasPrefix("ERROR:UNKNOWN") || text.hasPrefix("ERROR:CMD") {
            state.outcome = .refused(line)
        } else if !question.belongsToReply(text) {
            state.isDisturbed = true
        }
    }

    // MARK: Who asks

    /// A question is about to be sent. What has come of a line by now is not its answer.
    func begin() {
        state.withLock { state in
            (state.arrivals, state.outcome, state.isAsking) = ([], nil, true)
            state.isDisturbed = !state.line.withoutNULs.isEmpty
        }
    }

    /// The question is given up.
    func giveUp() { state.withLock { $0.isAsking = false } }

    /// How the question has ended; nil as long as it has not.
    ///
    /// - Throws: Why the link has ended.
    func outcome() throws(LinkError) -> Outcome? {
        let (outcome, end) = state.withLock { state in
            if state.outcome != nil { state.isAsking = false }
            return (state.outcome, state.end)
        }
        if let outcome { return outcome }
        if let end { throw end ?? LinkError(.closed, name: "", activity: "receive") }
        return nil
    }

    /// When something came last; nil where nothing did.
    var lastArrival: Duration? { state.withLock(\.lastArrival) }

    /// The last line that came, whatever it was.
    var lastLine: [UInt8]? { state.withLock(\.lastLine) }
}
