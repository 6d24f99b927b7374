internal import LineProtocol

/// The lines of a script, read from a pipe. A line is sent only when the wait for the previous line's answer is over.
///
/// An instant is the time since the ``ConsoleConversation`` was created.
struct ConsoleScript {
    private let rules: AnswerRules
    /// The bytes of the script that are not sent yet. The last line may be incomplete.
    private var text: [UInt8] = []
    /// Whether the input of the script has ended.
    private(set) var hasEnded = false
    /// The instant at which the current wait for the device began, or bytes last arrived during it; nil if the script
    /// does not wait.
    private var waitingSince: Duration?
    /// Whether the answer to the last line is there: any bytes, or the end of the answer if ``AnswerRules/end`` is set.
    /// Also true before the first line, and after a wait without an answer.
    private var isAnswered = true
    private var deviceError: String?
    /// The line that was sent last.
    private var lastLine: [UInt8] = []
    /// The first line without a complete answer.
    private var unanswered: [UInt8]?

    /// Whether sending has stopped: at an error if ``AnswerRules/failure`` is set, or at an answer that did not end if
    /// ``AnswerRules/end`` is set.
    private var isStopped = false

    /// The number of lines that were not sent because the device would misread them.
    var refusals = 0

    /// Whether the script waits for an answer, or for the silence that ends it.
    var isWaiting: Bool { waitingSince != nil }

    /// Whether the script is over: it waits for no answer, and has no further line or has stopped.
    var isOver: Bool { !isWaiting && (isStopped || hasEnded && text.isEmpty) }

    /// Creates an empty script.
    ///
    /// - Parameter rules: The rules that decide when an answer is complete.
    init(_ rules: AnswerRules = AnswerRules()) { self.rules = rules }

    /// Adds bytes of the script, which need not be whole lines.
    mutating func append(_ bytes: [UInt8]) { text += bytes }

    /// Marks the end of the script's input. If answers end with a silence, waits for one, unless the script is
    /// waiting already.
    mutating func end(at instant: Duration) {
        hasEnded = true
        if rules.end == nil { waitingSince = waitingSince ?? instant }
    }

    /// Removes and returns the next line to send, without its end. Returns nil if no complete line is there, the script
    /// waits for the device, or sending has stopped.
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

    /// Records that a line was sent and that the device may answer.
    mutating func waitForAnswer(to line: [UInt8], from instant: Duration) {
        waitingSince = instant
        isAnswered = false
        lastLine = line
    }

    /// Records that bytes arrived, which restarts the wait for silence.
    mutating func heard(at instant: Duration) {
        guard isWaiting else { return }
        waitingSince = instant
        isAnswered = isAnswered || rules.end == nil
    }

    /// Ends the wait for an answer. If ``AnswerRules/end`` is set and the answer is not complete, sending stops.
    ///
    /// - Returns: The line without a complete answer; nil if the answer is complete.
    mutating func stopWaiting() -> [UInt8]? {
        waitingSince = nil
        guard !isAnswered else { return nil }
        isAnswered = true
        isStopped = rules.end != nil
        unanswered = unanswered ?? lastLine
        return lastLine
    }

    /// Returns the time left at `instant` to wait for the device's next bytes; zero or negative if the time is over,
    /// nil if the script waits for nothing.
    func rest(at instant: Duration) -> Duration? {
        waitingSince.map { (isAnswered ? rules.quiet : rules.timeout) - (instant - $0) }
    }

    /// Processes a line from the device.
    ///
    /// - Parameter family: The family whose rules recognize errors.
    mutating func take(_ line: DeviceLine, of family: Family) {
        let error = rules.error(in: line, of: family)
        deviceError = deviceError ?? error
        if error != nil, rules.failure != nil { isStopped = true }
        guard isWaiting, !isAnswered, rules.isEnd(line) else { return }
        isAnswered = true
        waitingSince = nil
    }

    /// The number of lines that are not sent yet. Empty lines, which are never sent, do not count.
    var unsentCount: Int { text.split(separator: 0x0A).count { $0 != [0x0D] } }

    /// The result of the script so far.
    var result: ConsoleResult {
        ConsoleResult(
            refusals: refusals, deviceError: deviceError, unanswered: unanswered,
            unsentCount: isStopped ? unsentCount : 0)
    }
}
