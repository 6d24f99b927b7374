internal import GRDB
internal import RecordFormat

extension RecordTable {
    /// Its rows, the earliest first, each cell a piece of JSON.
    func sql(keys: [String], _ filter: RecordFilter) -> String {
        let common =
            "row.time_ms, sessions.id, json_quote(sessions.family), json_quote(sessions.endpoint), json_quote(sessions.device)"
        let join = "AS row JOIN sessions ON sessions.id = row.session_id"
        return switch self {
        case .readings:
            "SELECT \(common), json_quote(row.kind), row.reading FROM telemetry \(join) \(filter.condition) \(Self.order)"
        case .columns:
            """
            SELECT \((["\(common), json_quote(row.kind)"] + keys.map(Self.value)).joined(separator: ", "))
            FROM telemetry \(join) \(filter.condition) \(Self.order)
            """
        case .events:
            """
            SELECT \(common), json_quote(row.name), json_quote(row.text) FROM (
                SELECT id, session_id, time_ms, kind AS name, text FROM events
                UNION ALL SELECT id, session_id, time_ms, code, text FROM errors
            ) \(join) \(filter.condition) \(Self.order)
            """
        case .sessions:
            """
            SELECT \(common), json_quote(sessions.ended_ms), json_quote(sessions.ending),
                (SELECT count(*) FROM telemetry WHERE session_id = sessions.id),
                (SELECT count(*) FROM events WHERE session_id = sessions.id),
                (SELECT count(*) FROM errors WHERE session_id = sessions.id)
            FROM (SELECT id, id AS session_id, begun_ms AS time_ms FROM sessions) \(join) \(filter.condition) \(Self.order)
            """
        }
    }

    private static let order = "ORDER BY row.time_ms, row.id"

    /// The value of a name. Names come from devices: none of them may end the string, and a path of SQLite's can't have
    /// all of them.
    private static func value(_ key: String) -> String {
        let isWord = key.utf8.allSatisfy { byte in
            let letter = byte | 0x20
            return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
        }
        if isWord { return "row.reading -> '$.\(key)'" }
        let quoted = "'" + key.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
        return """
            (SELECT iif(type IN ('true', 'false'), type, json_quote(value)) FROM json_each(row.reading) WHERE key = \(quoted))
            """
    }
}

extension RecordFilter {
    /// The filter as a condition on `row`, its parameters those of ``arguments``.
    var condition: String {
        """
        WHERE (:since IS NULL OR row.time_ms >= :since) AND (:until IS NULL OR row.time_ms < :until)
        AND (:family IS NULL OR sessions.family = :family)
        AND (:device IS NULL OR sessions.device = :device OR sessions.endpoint = :device)
        """
    }

    var arguments: StatementArguments {
        ["since": since?.milliseconds, "until": until?.milliseconds, "family": family, "device": device]
    }
}
