internal import GRDB
public import RecordFormat

/// Looks up what was recorded. It may be used while others record.
///
///     let reader = try RecordReader(path)
///     try reader.read(.sessions, RecordFilter()) { cells in print(cells) }
public struct RecordReader: Sendable {
    private let path: String
    private let database: DatabaseQueue

    /// Opens the database at `path`.
    public init(_ path: String) throws(RecorderError) {
        self.path = path
        database = try RecordFile.openToRead(path)
        do {
            let isNewer = try database.inDatabase { try Schema.migrator.hasBeenSuperseded($0) }
            if isNewer { throw RecorderError(.newerSchema, path: path, activity: "read") }
        } catch {
            throw RecorderError(error, path: path, activity: "read")
        }
    }

    /// Hands out a table, row by row, the earliest first.
    ///
    /// - Parameters:
    ///   - table: Which table.
    ///   - filter: Which rows of it.
    ///   - body: Gets the names of the columns first, and then each row: pieces of JSON, `null` where there is nothing.
    public func read(
        _ table: RecordTable, _ filter: RecordFilter, _ body: ([String]) throws -> Void
    ) throws(RecorderError) {
        do {
            try database.inDatabase { db in
                // All of one moment, whatever is recorded meanwhile.
                try db.inTransaction {
                    let keys = table == .columns ? try self.keys(filter, db) : []
                    try body(table.columns + keys)
                    let statement = try db.makeStatement(sql: table.sql(keys: keys, filter))
                    statement.arguments = filter.arguments
                    let rows = try Row.fetchCursor(statement)
                    while let row = try rows.next() {
                        try body((0..<row.count).map { row[$0] ?? "null" })
                    }
                    return .commit
                }
            }
        } catch {
            throw RecorderError(error, path: path, activity: "read")
        }
    }

    /// The names of all values, in the order in which they come first.
    private func keys(_ filter: RecordFilter, _ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT value.key FROM telemetry AS row JOIN sessions ON sessions.id = row.session_id,
                json_each(row.reading) AS value \(filter.condition) GROUP BY value.key ORDER BY min(row.id * 65536 + value.id)
                """, arguments: filter.arguments)
    }

    /// Hands out messages one by one, in the order in which they were kept.
    public func readMessages(
        _ filter: MessageFilter = MessageFilter(), _ body: (StoredMessage) throws -> Void
    ) throws(RecorderError) {
        do {
            try database.inDatabase { db in
                // A database of before there were messages.
                guard try db.tableExists("messages") else { return }
                let rows = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT * FROM messages WHERE status = coalesce(:status, status)
                        AND category = coalesce(:category, category) ORDER BY number
                        """, arguments: ["status": filter.status?.rawValue, "category": filter.category])
                while let row = try rows.next() { try body(StoredMessage(row)) }
            }
        } catch {
            throw RecorderError(error, path: path, activity: "read")
        }
    }
}

extension StoredMessage {
    fileprivate init(_ row: Row) {
        self.init(
            id: row["id"], category: row["category"], received: RecordTime(milliseconds: row["received_ms"]),
            status: row["status"] == Status.synced.rawValue ? .synced : .pendingSync, json: row["message"])
    }
}
