internal import GRDB

/// The index for counting the rows of sessions and for finding one device's rows among many.
///
/// A new database has the index, and a small one gets it at the next write. On ten million rows, building it takes
/// seconds, and no command may delay a device for that long; so a large database gets it only on request. The index is
/// not part of the schema version: a database can be read and written with and without it.
enum SessionIndex {
    private static let tables = ["telemetry", "events", "errors"]
    /// The number of rows up to which building the index takes less than a tenth of a second.
    private static let mostRows: Int64 = 100_000

    /// Whether the database has the whole index.
    static func exists(_ db: Database) throws -> Bool {
        for table in tables where try !exists(on: table, db) { return false }
        return true
    }

    /// Builds the missing parts of the index on small tables.
    static func buildWhereSmall(_ db: Database) throws {
        for table in tables where try !exists(on: table, db) {
            // The last ID is found at once, and equals the number of rows, since rows are never deleted.
            let count = try Int64.fetchOne(db, sql: "SELECT max(id) FROM \(table)") ?? 0
            if count <= mostRows { try build(on: table, db) }
        }
    }

    /// Builds the missing parts of the index.
    static func build(_ db: Database) throws { for table in tables { try build(on: table, db) } }

    private static func exists(on table: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?)",
            arguments: ["\(table)_session"]) ?? false
    }

    private static func build(on table: String, _ db: Database) throws {
        try db.execute(sql: "CREATE INDEX IF NOT EXISTS \(table)_session ON \(table) (session_id, time_ms)")
    }
}
