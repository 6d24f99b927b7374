internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol
internal import RecordFormat
internal import StrictJSON

/// Reads recorded values of devices and stored messages for programs, one request at a time.
struct HistoryReading: Sendable {
    /// A request for recorded values of a device.
    struct Request: Sendable {
        /// The largest number of columns; chosen for the width of a plot in pixels.
        static let columnLimit = 4000

        var filter: RecordFilter
        /// The number of parts into which the time is divided, such as the columns of a plot; nil for rows.
        var columns: Int?
    }

    /// The largest number of readings in a response, and of events.
    static let rowLimit = 5000
    /// The largest numbers of readings and of events that are read for a response. Reading so many takes about two
    /// seconds, in which other requests for history wait.
    static let readLimit = 100_000
    /// The largest number of messages in a response, and the number unless the request names one.
    static let (messageLimit, standardMessageCount) = (1000, 100)
    /// The size of a response's messages in bytes of JSON from which no further message is added.
    static let messageSizeLimit = 1 << 20

    /// The program that keeps the record; nil for the installed one.
    let recorder: CompanionProgram?
    /// Lets requests be handled one at a time: each starts a program, and many at once would slow down the daemon.
    private let turns = TurnQueue()

    init(by recorder: CompanionProgram?) { self.recorder = recorder }

    /// Returns the members of the response: the readings and events, or a series of points for each value.
    func perform(_ request: Request) async throws(ControlFailure) -> [String: JSONValue] {
        try await read { [recorder] in
            guard let columns = request.columns else { return try Self.rows(request.filter, recorder) }
            let series = try RecordQuery.series(columns: columns, request.filter, by: recorder)
            return ["series": .array(series.map(\.json))]
        }
    }

    /// Returns the members of the response: at most `count` messages, the last to arrive first.
    func messages(_ count: Int) async throws(ControlFailure) -> [String: JSONValue] {
        try await read { [recorder] in
            let reader = try MessageReader(status: nil, newest: count + 1, by: recorder)
            var (messages, size): ([JSONValue], Int) = ([], 0)
            while let message = try reader.next() {
                guard messages.count < count, size < Self.messageSizeLimit else {
                    return ["messages": .array(messages), "complete": false]
                }
                messages.append(message.listed)
                size += message.json.count
            }
            return ["messages": .array(messages), "complete": true]
        }
    }

    /// Performs `work` in its turn, on a thread that may wait for the disk. Throws `cancelled` if the task is cancelled
    /// before its turn.
    private func read(
        _ work: @escaping @Sendable () throws -> [String: JSONValue]
    ) async throws(ControlFailure) -> [String: JSONValue] {
        guard await turns.take() else {
            throw ControlFailure("cancelled", "the request was given up", outcome: "nothing_changed")
        }
        defer { turns.release() }
        do { return try await aside(work) } catch {
            throw ControlFailure(
                reading: error as? Trouble ?? Trouble(code: "system", text: "\(error)", hint: "try again"))
        }
    }

    private static func rows(
        _ filter: RecordFilter, _ recorder: CompanionProgram?
    ) throws -> [String: JSONValue] {
        let (rows, hasAllRows) = try first(.readings, filter, recorder)
        let (events, hasAllEvents) = try first(.events, filter, recorder)
        return [
            "rows": .array(rows), "complete": .boolean(hasAllRows), "events": .array(events),
            "events_complete": .boolean(hasAllEvents),
        ]
    }

    /// Returns the first rows of a table, without the lines that were sent and received, and whether these are all.
    private static func first(
        _ table: RecordTable, _ filter: RecordFilter, _ recorder: CompanionProgram?
    ) throws -> ([JSONValue], Bool) {
        var query = try RecordQuery(table, filter, by: recorder)
        let kind = query.columns.firstIndex(of: "event")
        var (rows, readCount): ([JSONValue], Int) = ([], 0)
        while let cells = try query.next() {
            readCount += 1
            guard readCount <= readLimit else { return (rows, false) }
            if let kind, lineKinds.contains(cells[kind]) { continue }
            guard rows.count < rowLimit else { return (rows, false) }
            // The project's own recorder has written the row, so it needs no strict check.
            rows.append(try JSONValue(Array(query.object(cells).utf8), size: .max, isLenient: true))
        }
        return (rows, true)
    }

    /// The kinds of events for lines, as JSON.
    private static let lineKinds: Set = [#""sent""#, #""received""#, #""sent_hex""#, #""received_hex""#]
}

extension FoldedSeries {
    /// The series for programs. Each point is its time in milliseconds since 1970 and its value; `starts` has the
    /// indices of the points at which a line of the chart begins.
    fileprivate var json: JSONValue {
        .members([
            "key": .text(name), "part": part.isEmpty ? nil : .text(part),
            "points": .array(
                points.map { .array([.integer(Int($0.time.milliseconds)), .number($0.value)]) }),
            "starts": .array(points.indices.filter { points[$0].isFirst }.map(JSONValue.integer)),
        ])
    }
}

extension RescueMessage {
    /// The message for programs, with the keys of `pumpctl rescue list --json`.
    fileprivate var listed: JSONValue {
        .object([
            "id": .text("\(id)"), "time": .text(isoTime), "status": .text(status.rawValue),
            "category": .text(category.rawValue), "latitude": .number(position.latitude),
            "longitude": .number(position.longitude), "content": .text(content),
        ])
    }
}

extension ControlFailure {
    /// Converts a failure to read the record.
    fileprivate init(reading trouble: Trouble) {
        let code =
            switch trouble.code {
            case "locked": "record_locked"
            case "full": "disk_full"
            case "damaged": "record_damaged"
            default: "record_failed"
            }
        self.init(code, trouble.text, hint: trouble.hint, outcome: "nothing_changed")
    }
}
