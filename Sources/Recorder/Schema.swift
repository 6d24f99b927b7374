internal import GRDB

/// The tables, and the migrations of older databases.
///
/// Times are milliseconds since 1970-01-01T00:00:00Z. The name of a value contains its unit.
enum Schema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("sessions") { db in try db.execute(sql: sessions) }
        migrator.registerMigration("messages") { db in try db.execute(sql: messages) }
        return migrator
    }()

    /// The tables for sessions with devices: readings, events and errors.
    private static let sessions = """
        CREATE TABLE sessions (
            id INTEGER PRIMARY KEY,
            family TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            device TEXT,
            begun_ms INTEGER NOT NULL,
            ended_ms INTEGER,
            ending TEXT
        );
        CREATE TABLE telemetry (
            id INTEGER PRIMARY KEY,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            time_ms INTEGER NOT NULL,
            kind TEXT NOT NULL,
            reading TEXT NOT NULL
        );
        CREATE INDEX telemetry_time ON telemetry (time_ms);
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            time_ms INTEGER NOT NULL,
            kind TEXT NOT NULL,
            text TEXT
        );
        CREATE INDEX events_time ON events (time_ms);
        CREATE TABLE errors (
            id INTEGER PRIMARY KEY,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            time_ms INTEGER NOT NULL,
            code TEXT NOT NULL,
            text TEXT NOT NULL
        );
        CREATE INDEX errors_time ON errors (time_ms);
        """

    /// The messages of the `rescue` family, in order of arrival. `message` is the whole message as received; whether it
    /// was handed on is in `status` only.
    private static let messages = """
        CREATE TABLE messages (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE COLLATE NOCASE,
            category TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('pending_sync', 'synced')),
            received_ms INTEGER NOT NULL,
            message TEXT NOT NULL
        );
        """
}
