internal import LineProtocol

/// A log that a sensor has told.
struct StoredLog {
    /// How long a check waits for a log, and the silence that ends it.
    static let limit = Duration.seconds(8)
    static let silence = Duration.seconds(1)
    /// What stands before its first row.
    static let prefix = "LOG Values: "
    static let reasonNotToWait =
        "the log takes longer than \(limit.milliseconds / 1000) s: let the sensor have a shorter one"

    /// What was sent and came.
    var steps: [CheckResult.Step] = []
    /// Without their ends.
    var rows: [String] = []
    /// Whether silence has ended it.
    var isWhole = false
}

/// Puts the rows of a log together.
private struct LogText {
    private let keepsPacketBounds: Bool
    private var pieces: [String] = []

    init(_ keepsPacketBounds: Bool, _ first: HeardLine) {
        self.keepsPacketBounds = keepsPacketBounds
        append(first.text.dropFirst(StoredLog.prefix.count))
    }

    mutating func append(_ text: some StringProtocol) { pieces.append(String(text)) }

    /// On a line each piece is a row. A packet ends anywhere in a row, unless the log has no line ends at all.
    func rows(isWhole: Bool) -> [String] {
        let text = pieces.joined()
        guard keepsPacketBounds, text.utf8.contains(UInt8(ascii: "\n")) else {
            // Behind the prefix there may be nothing.
            return pieces.first == "" ? Array(pieces.dropFirst()) : pieces
        }
        var rows = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
        // Behind the last line end there is no row; a row that has not ended may be half of one.
        if rows.last == "" || !isWhole { rows.removeLast() }
        return rows
    }
}

extension Bench {
    /// Asks for the log.
    ///
    /// - Parameter unanswered: Of a board that may be starting, the number of questions without an answer. Their answers may
    ///   come before this one's.
    func readLog(behind unanswered: Int? = nil) async throws -> StoredLog {
        let (count, start) = (steps.count, elapsed)
        try await say("GET_LOG", isQuestion: true)
        let first = try await unanswered == nil ? hearLog() : hearPastStart(.begin(StoredLog.prefix))
        measure(.replyLatency, max(first.begin - start, .zero))
        var (log, text) = (StoredLog(), LogText(keepsPacketBounds, first))
        var (earlier, deadline) = (unanswered ?? 0, elapsed + StoredLog.silence)
        while let line = try await line(by: min(deadline, start + StoredLog.limit)) {
            // Live rows may come more often than that, and are no part of it.
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

    /// Takes the first line of a log.
    private func hearLog() async throws -> HeardLine {
        let deadline = elapsed + options.timeout
        while let line = try await line(by: deadline) {
            if line.text.hasPrefix(StoredLog.prefix) { return line }
            if line.message.text == "GET_LOG" {
                note("says GET_LOG back")
            } else if !line.text.hasPrefix("LIVE LOG: ") {
                throw CheckFailure(expected: "\(StoredLog.prefix)…", got: line.bytes.shown)
            }
        }
        throw CheckFailure(
            expected: "\(StoredLog.prefix)…", got: "no answer in \(options.timeout.inSeconds) s")
    }

    /// The log that was asked for last; asked for anew where this check has judged that before.
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

    /// Skips the check where a long log is still coming.
    func requireLogOver() throws {
        if storedLog?.log.isWhole == false { throw CheckSkip(reason: StoredLog.reasonNotToWait) }
    }

    /// How many live rows come.
    func countLiveRows(for time: Duration) async throws -> Int {
        let deadline = elapsed + time
        var count = 0
        while let line = try await line(by: deadline) {
            if line.text.hasPrefix("LIVE LOG: ") { count += 1 }
        }
        return count
    }
}
