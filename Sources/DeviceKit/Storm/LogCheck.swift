internal import LineProtocol

/// Tells a log from what another device has answered, and finds lines of it that are damaged.
///
/// Any text may be of a log. One that was not announced is taken for a log once a line of it is a measurement; until then it is
/// held back, so that an error of another device does not replace a log.
struct LogCheck {
    /// The most that is held back, and the longest line that is looked at.
    private static let limit = 4096

    /// How many bytes are of a log.
    private(set) var byteCount = 0
    /// How many lines are no measurement.
    private(set) var oddLineCount = 0
    /// The first of them.
    private(set) var oddLine: [UInt8]?

    private var framer = LineFramer(limit: limit)
    private var held: [UInt8] = []
    private var isLog = false

    /// Takes in text that has come.
    ///
    /// - Parameter isAnnounced: Whether the sensor has said that its log follows.
    /// - Returns: What is of a log for certain, with what was held back before.
    /// - Throws: `notUnderstood` if it is no log.
    mutating func take(_ text: [UInt8], isAnnounced: Bool) throws(SessionError) -> [UInt8] {
        var lines: [[UInt8]] = []
        framer.append(text.span) { line, _ in lines.append(line.withUnsafeBufferPointer { Array($0) }) }
        isLog = isLog || isAnnounced
        for line in lines { try look(at: line) }
        held += text
        guard isLog else {
            if held.count > Self.limit { throw Self.notUnderstood(oddLine ?? held) }
            return []
        }
        defer { held = [] }
        byteCount += held.count
        return held
    }

    /// Nothing follows.
    ///
    /// - Returns: What was held back and is of a log: its only row may have no line end.
    /// - Throws: `notUnderstood` if what was held back is no log.
    mutating func finish() throws(SessionError) -> [UInt8] {
        try look(at: framer.pending)
        if !isLog, let oddLine { throw Self.notUnderstood(oddLine) }
        defer { held = [] }
        byteCount += held.count
        return held
    }

    private mutating func look(at line: [UInt8]) throws(SessionError) {
        if line.isEmpty { return }
        if StormMeasurement(row: line) != nil {
            isLog = true
            return
        }
        if !isLog, Family.storm.other(recognizing: line) != nil { throw Self.notUnderstood(line) }
        oddLineCount += 1
        oddLine = oddLine ?? line
    }

    private static func notUnderstood(_ line: [UInt8]) -> SessionError {
        SessionError(.notUnderstood, command: StormDownload.command, outcome: .nothingChanged, foreignLine: line)
    }
}
