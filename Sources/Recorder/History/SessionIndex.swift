internal import GRDB

/// The index by which sessions are counted, and one device's rows are found among many.
///
/// A new database has it, and a small one gets it when it is next written to. On ten million rows it takes seconds to build,
/// for which no command may keep a device waiting: those get it when a person asks for it. It is no part of the tables'
/// version: a database is read and written with it and without.
enum SessionIndex {
    private static let tables = ["telemetry", "events", "errors"]
    /// Up to this many rows it is built in less than a tenth of a second.
    private static let mostRows: Int64 = 100_000

    /// Whether the database has it.
    static func exists(_ db: Database) throws -> Bool {
        for table in tables where try !exists(on: table, db) { return false }
        return true
    }

    /// Builds what is missing of it on tables that are small.
    static func buildWhereSmall(_ db: Database) throws {
        for table in tables where try !exists(on: table, db) {
            // The last id, which is found at once; rows are never deleted.
            let count = try Int64.fetchOne(db, sql: "SELECT max(id) FROM \(table)") ?? 0
            if count <= mostRows { try build(on: table, db) }
        }
    }

    /// Builds what is missing of it.
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
