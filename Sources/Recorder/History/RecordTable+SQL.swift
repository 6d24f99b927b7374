internal import GRDB
internal import RecordFormat

extension RecordTable {
    /// Returns the query for the rows of the table, earliest first, with JSON values as cells. The values of a reading
    /// are one object, even for ``columns``.
    func sql(_ filter: RecordFilter) -> String {
        let names = ["family", "endpoint", "device"].map { "json_quote(sessions.\($0))" }.joined(separator: ", ")
        let common = "row.time_ms, sessions.id, \(names)"
        let join =
            "AS row JOIN sessions ON sessions.id = row.session_id \(filter.condition) ORDER BY row.time_ms, row.id"
        return switch self {
        case .readings, .columns: "SELECT \(common), json_quote(row.kind), row.reading FROM telemetry \(join)"
        case .events:
            """
            SELECT \(common), json_quote(row.name), json_quote(row.text) FROM (
                SELECT id, session_id, time_ms, kind AS name, text FROM events
                UNION ALL SELECT id, session_id, time_ms, code, text FROM errors
            ) \(join)
            """
        case .sessions: Self.sessions(filter)
        }
    }

    /// Returns the query for sessions that were open at some time within the filter's limits. A session without an end,
    /// such as after a power failure, counts as open up to its last row.
    private static func sessions(_ filter: RecordFilter) -> String {
        var bounds: [String] = []
        if filter.until != nil { bounds.append("begun_ms < :until") }
        if filter.since != nil { bounds.append("ifnull(ended_ms, :since) >= :since") }
        let chosen = (bounds + filter.sessionConditions).joined(separator: " AND ")
        // One pass through each table, however many sessions there are.
        func tally(_ table: String) -> String {
            """
            \(table)_tally AS MATERIALIZED (
                SELECT session_id, count(*) AS count, max(time_ms) AS last_ms FROM \(table)
                WHERE session_id IN (SELECT id FROM chosen) GROUP BY session_id)
            """
        }
        let tables = ["telemetry", "events", "errors"]
        let lastTimes = tables.map { "ifnull(\($0)_tally.last_ms, begun_ms)" }.joined(separator: ", ")
        return """
            WITH chosen AS MATERIALIZED (SELECT * FROM sessions \(chosen.isEmpty ? "" : "WHERE \(chosen)")),
            \(tables.map(tally).joined(separator: ",\n"))
            SELECT begun_ms, id, json_quote(family), json_quote(endpoint), json_quote(device), json_quote(ended_ms),
                json_quote(ending), \(tables.map { "ifnull(\($0)_tally.count, 0)" }.joined(separator: ", "))
            FROM chosen \(tables.map { "LEFT JOIN \($0)_tally ON \($0)_tally.session_id = chosen.id" }.joined(separator: " "))
            \(filter.since == nil ? "" : "WHERE ifnull(ended_ms, max(begun_ms, \(lastTimes))) >= :since")
            ORDER BY begun_ms, id
            """
    }
}

extension RecordFilter {
    /// The condition on `row`, with parameters from ``arguments``. Absent limits are left out: with `:since IS NULL OR
    /// …`, SQLite would not use the index of times.
    var condition: String {
        var terms: [String] = []
        if since != nil { terms.append("row.time_ms >= :since") }
        if until != nil { terms.append("row.time_ms < :until") }
        if !sessionConditions.isEmpty {
            // The `+` makes SQLite use the index of times, so that the rows come in order without sorting.
            terms.append(
                "+row.session_id IN (SELECT id FROM sessions WHERE \(sessionConditions.joined(separator: " AND ")))")
        }
        return terms.isEmpty ? "" : "WHERE " + terms.joined(separator: " AND ")
    }

    /// The conditions on `sessions`, without the time.
    var sessionConditions: [String] {
        var terms: [String] = []
        if family != nil { terms.append("family = :family") }
        if device != nil { terms.append("(device = :device OR endpoint = :device)") }
        return terms
    }

    /// The parameters of the conditions.
    var arguments: StatementArguments {
        var arguments: [String: (any DatabaseValueConvertible)?] = [:]
        if let since { arguments["since"] = since.milliseconds }
        if let until { arguments["until"] = until.milliseconds }
        if let family { arguments["family"] = family }
        if let device { arguments["device"] = device }
        return StatementArguments(arguments)
    }
}
