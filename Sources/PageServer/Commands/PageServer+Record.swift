internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

// Recorded values, stored messages, and the findings of a check-up (`pumpctl doctor`).
extension PageServer {
    /// The longest wait in ``look(_:_:outcome:)``: a check-up looks for BLE devices.
    private static let longPatience = TimeAmount.seconds(20)
    /// The largest number of calls of ``look(_:_:outcome:)`` under way: for recorded values, messages, check-ups and
    /// simulators together.
    private static let lookLimit = 4

    /// Returns recorded values of a device as JSON, or as CSV for a client that prefers it.
    func history(_ device: String, _ request: Request, _ channel: any Channel) async throws(Problem) -> Reply {
        try request.checkQuery("since", "until", "columns")
        var members: [String: JSONValue] = ["do": "history", "device": .text(device)]
        for name in ["since", "until"] { members[name] = request.query[name].map(JSONValue.text) }
        if let text = request.query["columns"] {
            guard let columns = Int(text) else { throw .badRequest("'columns' must be a number") }
            members["columns"] = .integer(columns)
        }
        let answer = try await look(members, channel)
        guard request.head.headers["accept"].contains(where: { $0.hasPrefix("text/csv") }) else {
            return Reply(json: answer)
        }
        guard answer["complete"]?.boolean != false else {
            throw Problem(
                .payloadTooLarge, "too_many_rows", "there are more than 5000 readings in this time",
                hint: "ask for a shorter time by 'since' and 'until', or for 'columns'", outcome: "nothing_changed")
        }
        return Reply(type: "text/csv; charset=utf-8", Self.csv(answer))
    }

    /// Returns stored messages of the rescue app.
    func messages(_ request: Request, _ channel: any Channel) async throws(Problem) -> Reply {
        try request.checkQuery("limit")
        var members: [String: JSONValue] = ["do": "messages"]
        if let text = request.query["limit"] {
            guard let limit = Int(text) else { throw .badRequest("'limit' must be a number") }
            members["limit"] = .integer(limit)
        }
        return Reply(json: try await look(members, channel))
    }

    /// Returns the findings of a check-up of the computer, or of the device in the query.
    func findings(_ request: Request, _ channel: any Channel) async throws(Problem) -> Reply {
        try request.checkQuery("device")
        var members: [String: JSONValue] = ["do": "findings"]
        members["device"] = request.query["device"].map(JSONValue.text)
        return Reply(json: try await look(members, channel))
    }

    /// Sends a request that takes the daemon some time, on a connection of its own, and returns the members of the
    /// answer. The request is given up when its client leaves.
    ///
    /// - Parameter outcome: The outcome of a request that was sent and is not answered.
    func look(
        _ request: [String: JSONValue], _ channel: any Channel, outcome: String = "nothing_changed"
    ) async throws(Problem) -> [String: JSONValue] {
        guard lookCount < Self.lookLimit else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "\(Self.lookLimit) requests of this kind are under way",
                hint: "wait for an answer first", outcome: "not_sent")
        }
        lookCount += 1
        defer { lookCount -= 1 }
        let asking = Task(executorPreference: executor) {
            do throws(Problem) {
                return Result<JSONValue, Problem>.success(
                    try await self.call.ask(request, within: Self.longPatience, outcome: outcome))
            } catch {
                return .failure(error)
            }
        }
        whenClosed(channel) { asking.cancel() }
        defer { whenClosed(channel, nil) }
        return (try await asking.value.get().dictionary ?? [:]).filter { !["id", "ok"].contains($0.key) }
    }

    // MARK: CSV

    /// Returns the rows of an answer as CSV (RFC 4180), or the points of its series with their times as milliseconds
    /// since 1970. Unknown values are empty.
    private static func csv(_ answer: [String: JSONValue]) -> [UInt8] {
        guard let series = answer["series"]?.elements else {
            let rows = (answer["rows"]?.elements ?? []).map { $0.dictionary ?? [:] }
            let names = ["time"] + Set(rows.flatMap(\.keys)).subtracting(["time"]).sorted()
            return lines([names.map(JSONValue.text)] + rows.map { row in names.map { row[$0] ?? .null } })
        }
        let points = series.flatMap { series in
            (series["points"]?.elements ?? []).map { point in
                [point.elements?.first ?? .null, series["key"] ?? .null, series["part"] ?? .null]
                    + [point.elements?.last ?? .null]
            }
        }
        return lines([["time_ms", "key", "part", "value"]] + points)
    }

    private static func lines(_ rows: [[JSONValue]]) -> [UInt8] {
        Array(rows.map { $0.map(cell).joined(separator: ",") + "\r\n" }.joined().utf8)
    }

    private static func cell(_ value: JSONValue) -> String {
        if value.isNull { return "" }
        let text = value.text ?? value.json
        let isPlain = text.unicodeScalars.allSatisfy { ![",", "\"", "\r", "\n"].contains($0) }
        return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
