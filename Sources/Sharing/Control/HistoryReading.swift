internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol
internal import RecordFormat
internal import StrictJSON

/// Reads the recorded values of devices for programs, one request at a time.
struct HistoryReading: Sendable {
    /// A request for recorded values of a device.
    struct Request: Sendable {
        /// The largest number of columns.
        static let columnLimit = 4000

        var filter: RecordFilter
        /// The width of a plot; nil for rows.
        var columns: Int?
    }

    /// The largest number of rows in a response.
    static let rowLimit = 5000

    /// The program that keeps the record; nil for the installed one.
    let recorder: CompanionProgram?
    /// Each request starts a program, so that many requests at once would take the device's time.
    private let turns = TurnQueue()

    init(by recorder: CompanionProgram?) { self.recorder = recorder }

    /// Returns the members of the response: the readings, or a series of points for each value.
    func perform(_ request: Request) async throws(ControlFailure) -> [String: JSONValue] {
        guard await turns.take() else {
            throw ControlFailure("cancelled", "the request was given up", outcome: "nothing_changed")
        }
        defer { turns.release() }
        do {
            return try await aside { [recorder] in
                guard let columns = request.columns else { return try Self.rows(request.filter, recorder) }
                let series = try RecordQuery.series(columns: columns, request.filter, by: recorder)
                return ["series": .array(series.map(\.json))]
            }
        } catch {
            throw ControlFailure(
                reading: error as? Trouble ?? Trouble(code: "system", text: "\(error)", hint: "try again"))
        }
    }

    private static func rows(
        _ filter: RecordFilter, _ recorder: CompanionProgram?
    ) throws -> [String: JSONValue] {
        var query = try RecordQuery(.readings, filter, by: recorder)
        var rows: [JSONValue] = []
        while let object = try query.nextObject() {
            if rows.count == rowLimit { return ["rows": .array(rows), "complete": false] }
            rows.append(try JSONValue(Array(object.utf8), size: .max, isLenient: true))
        }
        return ["rows": .array(rows), "complete": true]
    }
}

extension FoldedSeries {
    /// The series for programs. Each point is its time in milliseconds since 1970 and its value; `starts` has the
    /// indices of the points before which the line is interrupted.
    fileprivate var json: JSONValue {
        .members([
            "key": .text(name), "part": part.isEmpty ? nil : .text(part),
            "points": .array(
                points.map { .array([.integer(Int($0.time.milliseconds)), .number($0.value)]) }),
            "starts": .array(points.indices.filter { points[$0].isFirst }.map(JSONValue.integer)),
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
