internal import LineProtocol
internal import Synchronization

/// Notes arrivals and their times, and decides whether they answer the current query. The link calls ``take(_:)``; one
/// task sends the queries and waits for ``events``.
final class ReplyWatch: Sendable {
    /// The outcome of a query.
    enum Outcome: Sendable {
        /// The device answered; the arrivals up to the end of the answer.
        case answered([LatencySample.Arrival])
        /// The device answered, but sent something else in between.
        case disturbed
        /// The device refused the query, with the given line.
        case refused([UInt8])
    }

    /// The reason why the waiting task wakes.
    enum Event: Sendable {
        /// The query has an outcome, or the link has ended.
        case changed
        /// The time limit of the query with this number is up.
        case timeIsUp(Int)
    }

    private struct State {
        /// The arrivals since the query was sent.
        var arrivals: [LatencySample.Arrival] = []
        /// The beginning of a line that has not ended.
        var line: [UInt8] = []
        var isAsking = false
        /// Whether a line came since the query was sent that does not belong to the answer.
        var isDisturbed = false
        var outcome: Outcome?
        var lastLine: [UInt8]?
        var lastArrival: Duration?
        /// The end of the link, with the error if there was one; nil while the link is open.
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

    // MARK: Arrivals

    /// Takes an arrival from the link. The clock is read first, so that parsing does not delay the time.
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
        // A packet is complete, with or without a line end in it.
        if keepsPacketBounds { endLine(&state) }
        // A stream without line ends must not fill the memory. No family has lines of 1 MiB.
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
            // A pump does not know the query, or finds it too long: the query was damaged on its way.
            state.outcome = .refused(line)
        } else if !question.belongsToReply(text) {
            state.isDisturbed = true
        }
    }

    // MARK: Queries

    /// Expects an answer from now on: a query is about to be sent. A line that has already begun cannot be the answer.
    func begin() {
        state.withLock { state in
            (state.arrivals, state.outcome, state.isAsking) = ([], nil, true)
            state.isDisturbed = !state.line.withoutNULs.isEmpty
        }
    }

    /// Stops expecting an answer.
    func giveUp() { state.withLock { $0.isAsking = false } }

    /// The outcome of the query; nil if there is none yet.
    ///
    /// - Throws: The reason why the link has ended.
    func outcome() throws(LinkError) -> Outcome? {
        let (outcome, end) = state.withLock { state in
            if state.outcome != nil { state.isAsking = false }
            return (state.outcome, state.end)
        }
        if let outcome { return outcome }
        if let end { throw end ?? LinkError(.closed, name: "", activity: "receive") }
        return nil
    }

    /// The time of the last arrival; nil if there was none.
    var lastArrival: Duration? { state.withLock(\.lastArrival) }

    /// The last complete line that is not empty, of any kind; nil if there was none.
    var lastLine: [UInt8]? { state.withLock(\.lastLine) }
}
