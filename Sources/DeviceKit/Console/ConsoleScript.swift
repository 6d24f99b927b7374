internal import LineProtocol

/// Lines that come through a pipe, of which the next is sent when the device has said all that it has to say.
struct ConsoleScript {
    private var text: [UInt8] = []
    private(set) var hasEnded = false
    private var waitingSince: Duration?
    /// Whether the line that was sent last was answered, or none was.
    private var isAnswered = true
    private var deviceError: String?
    /// What was sent last, and the first of what was sent and not answered.
    private var lastLine: [UInt8] = []
    private var unanswered: [UInt8]?

    /// How many lines were not sent, since they mean something else than they say.
    var refusals = 0

    /// Whether the device is given time to answer.
    var isWaiting: Bool { waitingSince != nil }

    /// Whether there is nothing more to send.
    var isOver: Bool { hasEnded && text.isEmpty }

    mutating func append(_ bytes: [UInt8]) { text += bytes }

    /// There will be no more lines; what the device still says is waited for.
    mutating func end(at instant: Duration) {
        hasEnded = true
        waitingSince = waitingSince ?? instant
    }

    /// The next line to send, without its end; nil where none is whole yet, or the device may still answer.
    mutating func nextLine() -> [UInt8]? {
        guard !isWaiting, let end = text.firstIndex(of: 0x0A) ?? (hasEnded && !text.isEmpty ? text.endIndex : nil)
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
        isAnswered = true
    }

    /// Nothing more is waited for.
    ///
    /// - Returns: The line that was not answered; nil where it was.
    mutating func stopWaiting() -> [UInt8]? {
        waitingSince = nil
        guard !isAnswered else { return nil }
        isAnswered = true
        unanswered = unanswered ?? lastLine
        return lastLine
    }

    /// How much longer to wait: for the first of an answer for `timeout`, for the rest until the device is quiet; nil where
    /// nothing is waited for.
    func rest(
        ofQuiet quiet: Duration, timeout: Duration, at instant: Duration
    ) -> Duration? {
        waitingSince.map { (isAnswered ? quiet : timeout) - (instant - $0) }
    }

    /// Looks at what the device said.
    ///
    /// - Parameter family: By whose rules a line tells of an error.
    mutating func take(_ line: DeviceLine, of family: Family) {
        if deviceError == nil { deviceError = family.errorCode(of: line) }
    }

    /// How many lines were not sent yet.
    var unsentCount: Int { text.split(separator: 0x0A).count }

    /// How the script went.
    var result: ConsoleResult {
        ConsoleResult(refusals: refusals, deviceError: deviceError, unanswered: unanswered)
    }
}
