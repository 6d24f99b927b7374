package import LineProtocol

/// Distinguishes a log from the answer of another device, and finds damaged lines in the log.
///
/// Any text may belong to a log. If a sensor has not announced the text with the prefix `LOG Values: `, the text counts
/// as a log only once one of its lines is a measurement. Until then the text is held back, so that an error message of
/// another device can't replace a log file.
package struct LogCheck: Sendable {
    /// The largest size in bytes of held-back text, and of a line that is checked: far more than a measurement has. A
    /// longer line counts as several lines.
    private static let limit = 4096

    /// The number of bytes that belong to the log.
    package private(set) var byteCount = 0
    /// The number of lines, without empty ones.
    package private(set) var lineCount = 0
    /// The number of lines that are no measurements.
    package private(set) var oddLineCount = 0
    /// The first line that is no measurement; nil if there is none.
    package private(set) var oddLine: [UInt8]?

    private var framer = LineFramer(limit: limit)
    /// The text that is held back.
    private var held: [UInt8] = []
    /// Whether the text is known to be a log, so that nothing is held back any more.
    private var isLog = false

    /// Creates the check of a log that has not begun.
    package init() {}

    /// Adds received text.
    ///
    /// - Parameters:
    ///   - text: The text, which may be cut anywhere.
    ///   - isAnnounced: Whether the sensor has announced its log.
    /// - Returns: The text that certainly belongs to the log, including text that was held back before.
    /// - Throws: `notUnderstood` if the text is no log.
    package mutating func take(_ text: [UInt8], isAnnounced: Bool) throws(SessionError) -> [UInt8] {
        isLog = isLog || isAnnounced
        var start = 0
        while start < text.count {
            if framer.pendingByteCount == 0 { takePlainLines(text, &start) }
            try takeLine(text, &start)
        }
        held += text
        guard isLog else {
            if held.count > Self.limit { throw Self.notUnderstood(oddLine ?? held) }
            return []
        }
        defer { held = [] }
        byteCount += held.count
        return held
    }

    /// Takes the lines at `start` that a quick check of their bytes recognizes as measurements; most lines of a log are
    /// such lines. ``takeLine(_:_:)`` checks the others.
    private mutating func takePlainLines(_ text: [UInt8], _ start: inout Int) {
        text.withUnsafeBytes { bytes in
            while let end = StormMeasurement.endOfPlainLine(in: bytes, from: start), end - start <= Self.limit {
                lineCount += 1
                isLog = true
                start = end
            }
        }
    }

    /// Takes the text from `start` up to the next line end, or to the end of the text.
    private mutating func takeLine(_ text: [UInt8], _ start: inout Int) throws(SessionError) {
        let end = text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.count
        // A copy of the framer, because `look` changes `self` while the framer delivers a line.
        var (framer, failure) = (framer, SessionError?.none)
        framer.append(text.span.extracting(start..<end)) { line, _ in
            do throws(SessionError) { if failure == nil { try look(at: line) } } catch { failure = error }
        }
        (self.framer, start) = (framer, end)
        if let failure { throw failure }
    }

    /// Ends the text.
    ///
    /// - Returns: The text that was held back and belongs to the log. The log's only row may have no line end.
    /// - Throws: `notUnderstood` if the held-back text is no log.
    package mutating func finish() throws(SessionError) -> [UInt8] {
        try look(at: framer.pending.span)
        if !isLog, let oddLine { throw Self.notUnderstood(oddLine) }
        defer { held = [] }
        byteCount += held.count
        return held
    }

    /// Counts a line, without its end.
    ///
    /// - Throws: `notUnderstood` if only devices of another family send the line, and the text is not known to be a
    ///   log.
    private mutating func look(at bytes: Span<UInt8>) throws(SessionError) {
        if bytes.isEmpty { return }
        lineCount += 1
        if StormMeasurement.isMeasurement(bytes) {
            isLog = true
            return
        }
        let line = bytes.withUnsafeBufferPointer { Array($0) }
        if !isLog, Family.storm.other(recognizing: line) != nil { throw Self.notUnderstood(line) }
        oddLineCount += 1
        oddLine = oddLine ?? line
    }

    private static func notUnderstood(_ line: [UInt8]) -> SessionError {
        SessionError(.notUnderstood, command: StormDownload.command, outcome: .nothingChanged, foreignLine: line)
    }
}
