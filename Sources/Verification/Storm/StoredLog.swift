internal import LineProtocol

/// A log as a sensor has sent it.
struct StoredLog {
    /// The longest time for which a check reads a log, so that a log of any length leaves the checks within their time
    /// limit: see ``VerificationOptions/limit(hasStimulus:)``.
    static let limit = Duration.seconds(8)
    /// The length of the silence that ends a log: see storm-8 in docs/protocols.md.
    static let silence = Duration.seconds(1)
    /// The text before the first row.
    static let prefix = "LOG Values: "
    static let reasonNotToWait =
        "the log takes longer than \(limit.milliseconds / 1000) s: use a shorter log"

    /// The transcript of the log's transfer.
    var steps: [CheckResult.Step] = []
    /// The rows, without their line ends.
    var rows: [String] = []
    /// Whether silence ended the log before ``limit`` did.
    var isWhole = false
}

/// Joins the received pieces of a log, and cuts them into rows.
private struct LogText {
    private let keepsPacketBounds: Bool
    private var pieces: [String] = []

    init(_ keepsPacketBounds: Bool, _ first: HeardLine) {
        self.keepsPacketBounds = keepsPacketBounds
        append(first.text.dropFirst(StoredLog.prefix.count))
    }

    mutating func append(_ text: some StringProtocol) { pieces.append(String(text)) }

    /// Returns the rows. On a serial line, each piece is a row. Packets may end within a row, unless the log has no
    /// line ends: then each packet is a row.
    func rows(isWhole: Bool) -> [String] {
        let text = pieces.joined()
        guard keepsPacketBounds, text.utf8.contains(UInt8(ascii: "\n")) else {
            // The prefix may be alone on its line.
            return pieces.first == "" ? Array(pieces.dropFirst()) : pieces
        }
        var rows = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
        // There is no row after the last line end. A row without an end may be half a row.
        if rows.last == "" || !isWhole { rows.removeLast() }
        return rows
    }
}

extension Bench {
    /// Requests the log and reads it.
    ///
    /// - Parameter unanswered: The number of unanswered queries before this one, if the board may be starting. The
    ///   answers to them may come before the answer to this query. nil if the board is not starting.
    /// - Returns: The log so far, after a silence or at the limit: see ``StoredLog/isWhole``.
    /// - Throws: ``CheckFailure`` if no log begins within the timeout, or another line than a live row or the echo
    ///   comes first; a starting board may send other lines.
    func readLog(behind unanswered: Int? = nil) async throws -> StoredLog {
        let (count, start) = (steps.count, elapsed)
        try await say("GET_LOG", isQuestion: true)
        let first = try await unanswered == nil ? hearLog() : hearPastStart(.begin(StoredLog.prefix))
        measure(.replyLatency, max(first.begin - start, .zero))
        var (log, text) = (StoredLog(), LogText(keepsPacketBounds, first))
        var (earlier, deadline) = (unanswered ?? 0, elapsed + StoredLog.silence)
        while let line = try await line(by: min(deadline, start + StoredLog.limit)) {
            // Live rows are no part of the log, and do not extend the deadline: otherwise a busy sensor's log would not
            // end.
            if line.text.hasPrefix("LIVE LOG: ") { continue }
            if earlier > 0, line.text.hasPrefix(StoredLog.prefix) {
                earlier -= 1
                text = LogText(keepsPacketBounds, line)
            } else {
                text.append(line.text)
            }
            deadline = elapsed + StoredLog.silence
        }
        log.isWhole = elapsed < start + StoredLog.limit
        log.rows = text.rows(isWhole: log.isWhole)
        leaveOutSteps(behind: count)
        log.steps = Array(steps[count...])
        return log
    }

    /// Returns the first line of a log. Skips live rows and the echo of GET_LOG before it.
    private func hearLog() async throws -> HeardLine {
        let deadline = elapsed + options.timeout
        while let line = try await line(by: deadline) {
            if line.text.hasPrefix(StoredLog.prefix) { return line }
            if line.message.text == "GET_LOG" {
                note("echoes GET_LOG")
            } else if !line.text.hasPrefix("LIVE LOG: ") {
                throw CheckFailure(expected: "\(StoredLog.prefix)…", got: line.bytes.shown)
            }
        }
        throw CheckFailure(
            expected: "\(StoredLog.prefix)…", got: "no answer in \(options.timeout.inSeconds) s")
    }

    /// Returns the last log that was read. Requests the log again if the current check has already judged this log,
    /// unless the log is too long.
    func log() async throws -> StoredLog {
        if let known = storedLog, !known.log.isWhole || !known.judges.contains(check) {
            storedLog?.judges.insert(check)
            recall(known.log.steps)
            return known.log
        }
        let log = try await readLog()
        storedLog = (log, [check])
        return log
    }

    /// Skips the check if a long log may still be arriving.
    func requireLogOver() throws {
        if storedLog?.log.isWhole == false { throw CheckSkip(reason: StoredLog.reasonNotToWait) }
    }

    /// Counts the live rows that arrive within `time`.
    func countLiveRows(for time: Duration) async throws -> Int {
        let deadline = elapsed + time
        var count = 0
        while let line = try await line(by: deadline) {
            if line.text.hasPrefix("LIVE LOG: ") { count += 1 }
        }
        return count
    }
}
