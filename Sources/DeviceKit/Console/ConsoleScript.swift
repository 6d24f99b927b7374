internal import LineProtocol

/// Lines that come through a pipe, of which the next is sent when the device has said all that it has to say.
struct ConsoleScript {
    private let rules: AnswerRules
    private var text: [UInt8] = []
    private(set) var hasEnded = false
    private var waitingSince: Duration?
    /// Whether the line that was sent last was answered, or none was.
    private var isAnswered = true
    private var deviceError: String?
    /// What was sent last, and the first of what was sent and not answered.
    private var lastLine: [UInt8] = []
    private var unanswered: [UInt8]?

    /// Whether no more lines are sent, since an answer was an error or has not ended.
    private var isStopped = false

    /// How many lines were not sent, since they mean something else than they say.
    var refusals = 0

    /// Whether the device is given time to answer.
    var isWaiting: Bool { waitingSince != nil }

    /// Whether there is nothing more to send.
    var isOver: Bool { !isWaiting && (isStopped || hasEnded && text.isEmpty) }

    /// A script without a line.
    ///
    /// - Parameter rules: By what an answer is known to have ended.
    init(_ rules: AnswerRules = AnswerRules()) { self.rules = rules }

    mutating func append(_ bytes: [UInt8]) { text += bytes }

    /// There will be no more lines; what the device still says is waited for.
    mutating func end(at instant: Duration) {
        hasEnded = true
        if rules.end == nil { waitingSince = waitingSince ?? instant }
    }

    /// The next line to send, without its end; nil where none is whole yet, or the device may still answer.
    mutating func nextLine() -> [UInt8]? {
        guard !isWaiting, !isStopped,
            let end = text.firstIndex(of: 0x0A) ?? (hasEnded && !text.isEmpty ? text.endIndex : nil)
        else {
            return nil
        }
        var line = text[..<end]
        text.removeFirst(min(text.count, end + 1))
        if line.last == 0x0D { line.removeLast() }
        return Array(line)
    }

    /// A line was sent, and the device may answer.
    mutating func waitForAnswer(to line: [UInt8], from instant: Duration) {
        waitingSince = instant
        isAnswered = false
        lastLine = line
    }

    mutating func heard(at instant: Duration) {
        guard isWaiting else { return }
        waitingSince = instant
        isAnswered = isAnswered || rules.end == nil
    }

    /// Nothing more is waited for.
    ///
    /// - Returns: The line that was not answered, or whose answer has not ended; nil where it has.
    mutating func stopWaiting() -> [UInt8]? {
        waitingSince = nil
        guard !isAnswered else { return nil }
        isAnswered = true
        isStopped = rules.end != nil
        unanswered = unanswered ?? lastLine
        return lastLine
    }

    /// How much longer to wait for what the device says next; nil where nothing is waited for.
    func rest(at instant: Duration) -> Duration? {
        waitingSince.map { (isAnswered ? rules.quiet : rules.timeout) - (instant - $0) }
    }

    /// Looks at what the device said.
    ///
    /// - Parameter family: By whose rules a line tells of an error.
    mutating func take(_ line: DeviceLine, of family: Family) {
        let error = rules.error(in: line, of: family)
        deviceError = deviceError ?? error
        if error != nil, rules.failure != nil { isStopped = true }
        guard isWaiting, !isAnswered, rules.isEnd(line) else { return }
        isAnswered = true
        waitingSince = nil
    }

    /// How many lines were not sent yet.
    var unsentCount: Int { text.split(separator: 0x0A).count }

    /// How the script went.
    var result: ConsoleResult {
        ConsoleResult(
            refusals: refusals, deviceError: deviceError, unanswered: unanswered,
            unsentCount: isStopped ? unsentCount : 0)
    }
}
