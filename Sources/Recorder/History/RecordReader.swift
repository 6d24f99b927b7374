internal import GRDB
public import RecordFormat

/// Reads the record. Other programs may record at the same time.
///
///     let reader = try RecordReader(path)
///     try reader.read(.sessions, RecordFilter()) { cells in print(cells) }
public struct RecordReader: Sendable {
    private let path: String
    private let database: DatabaseQueue

    /// Opens the database at `path`.
    ///
    /// - Throws: ``RecorderError``, with ``RecorderError/Code/notFound`` if there is no database, and with
    ///   ``RecorderError/Code/newerSchema`` if a newer version of this program has changed the tables.
    public init(_ path: String) throws(RecorderError) {
        self.path = path
        database = try RecordFile.openToRead(path)
        try look { db in
            if try Schema.migrator.hasBeenSuperseded(db) {
                throw RecorderError(.newerSchema, path: path, activity: "read")
            }
        }
    }

    /// Whether the database has the index for counting the rows of sessions and finding one device's rows; see
    /// ``RecordFile/optimize(_:)``.
    public var isOptimized: Bool { get throws(RecorderError) { try look(SessionIndex.exists) } }

    /// Passes the rows of a table to `body`, earliest first. For `RecordTable.sessions`, the rows are the sessions
    /// that were open at some time within the filter's limits.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - filter: The conditions for rows.
    ///   - body: Called with the names of the columns, and then with each row: JSON values, with `null` for missing
    ///     values. An error of `body` ends reading.
    /// - Throws: ``RecorderError``. An error of another type from `body` becomes ``RecorderError/Code/system``.
    public func read(
        _ table: RecordTable, _ filter: RecordFilter, _ body: ([String]) throws -> Void
    ) throws(RecorderError) {
        try look { db in
            guard table == .columns else {
                try body(table.columns)
                return try forEachRow(of: table, filter, db) { row in
                    try body((0..<row.count).map { row[$0] ?? "null" })
                }
            }
            var names = ColumnNames()
            try forEachReading(filter, db) { _, _, reading in names.add(reading) }
            try body(table.columns + names.headings)
            try forEachRow(of: table, filter, db) { row in
                let common: [String] = (0..<(row.count - 1)).map { row[$0] ?? "null" }
                try body(common + names.cells(row[row.count - 1]))
            }
        }
    }

    /// Folds readings into series of values for charts.
    ///
    /// The time from the first reading to the last is divided into `columns` equal parts. In each part a series has at
    /// most two points, the lowest and the highest value. So the memory use does not depend on the number of readings.
    ///
    /// - Parameters:
    ///   - filter: The conditions for readings.
    ///   - columns: The number of parts.
    /// - Returns: The series of numbers, of true or false, and of pump states, in order of first occurrence.
    public func fold(_ filter: RecordFilter, columns: Int) throws(RecorderError) -> [FoldedSeries] {
        try look { db in
            guard let times = try times(filter, db) else { return [] }
            var fold = Fold(times, columns: columns)
            for row in try Row.fetchAll(db, sql: "SELECT id, family, endpoint, device FROM sessions") {
                fold.addSession(row["id"], family: row["family"], endpoint: row["endpoint"], device: row["device"])
            }
            try forEachReading(filter, db) { session, time, reading in fold.add(reading, time, session) }
            return fold.series
        }
    }

    /// Passes messages to `body`, in the order in which they were stored; in the reverse order if the filter asks for
    /// the newest.
    ///
    /// - Throws: ``RecorderError``. An error of another type from `body` becomes ``RecorderError/Code/system``.
    public func readMessages(
        _ filter: MessageFilter = MessageFilter(), _ body: (StoredMessage) throws -> Void
    ) throws(RecorderError) {
        try look { db in
            // An old database has no table of messages.
            guard try db.tableExists("messages") else { return }
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT * FROM messages WHERE status = coalesce(:status, status)
                    AND category = coalesce(:category, category)
                    ORDER BY number \(filter.newest == nil ? "" : "DESC") LIMIT :limit
                    """,
                arguments: [
                    "status": filter.status?.rawValue, "category": filter.category, "limit": filter.newest ?? -1,
                ])
            while let row = try rows.next() { try body(StoredMessage(row)) }
        }
    }

    /// Runs `body` on a snapshot of the database, in one transaction.
    private func look<Value>(_ body: (Database) throws -> Value) throws(RecorderError) -> Value {
        do {
            return try database.inDatabase { db in
                try db.execute(sql: "BEGIN")
                defer { try? db.execute(sql: "COMMIT") }
                return try body(db)
            }
        } catch {
            throw RecorderError(error, path: path, activity: "read")
        }
    }
}

extension RecordReader {
    private func forEachRow(
        of table: RecordTable, _ filter: RecordFilter, _ db: Database, _ body: (Row) throws -> Void
    ) throws {
        let filter = table == .sessions ? filter : try narrowed(filter, to: table.tables, db)
        let rows = try Row.fetchCursor(db, sql: table.sql(filter), arguments: filter.arguments)
        while let row = try rows.next() { try body(row) }
    }

    /// Passes the readings to `body`, earliest first: session, milliseconds, JSON.
    private func forEachReading(
        _ filter: RecordFilter, _ db: Database, _ body: (Int64, Int64, String) throws -> Void
    ) throws {
        let filter = try narrowed(filter, to: ["telemetry"], db)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT row.session_id, row.time_ms, row.reading FROM telemetry AS row \(filter.condition)
                ORDER BY row.time_ms, row.id
                """, arguments: filter.arguments)
        while let row = try rows.next() { try body(row[0], row[1], row[2]) }
    }

    /// Returns the times of the first and last reading, in milliseconds; nil if there are no readings.
    private func times(_ filter: RecordFilter, _ db: Database) throws -> ClosedRange<Int64>? {
        let filter = try narrowed(filter, to: ["telemetry"], db)
        func end(_ order: String) throws -> Int64? {
            try Int64.fetchOne(
                db, sql: "SELECT time_ms FROM telemetry AS row \(filter.condition) ORDER BY time_ms \(order) LIMIT 1",
                arguments: filter.arguments)
        }
        guard let first = try end("ASC"), let last = try end("DESC") else { return nil }
        return first...last
    }

    /// Returns the filter, limited to the time range of its sessions' rows. Rows are read in order of time, so the
    /// limits spare a look at all rows outside of the range. Without the index, finding the range would take more time
    /// than it saves.
    private func narrowed(_ filter: RecordFilter, to tables: [String], _ db: Database) throws -> RecordFilter {
        guard !filter.sessionConditions.isEmpty, try SessionIndex.exists(db) else { return filter }
        func time(_ function: String, _ table: String) -> String {
            "(SELECT \(function)(time_ms) FROM \(table) WHERE session_id = sessions.id)"
        }
        let times = tables.map { "min(\(time("min", $0))) AS first, max(\(time("max", $0))) AS last" }
        var (first, last) = (Int64.max, Int64.min)
        for columns in times {
            var bare = filter
            (bare.since, bare.until) = (nil, nil)
            let row = try Row.fetchOne(
                db,
                sql: "SELECT \(columns) FROM sessions WHERE \(filter.sessionConditions.joined(separator: " AND "))",
                arguments: bare.arguments)
            guard let row, let low: Int64 = row["first"], let high: Int64 = row["last"] else { continue }
            (first, last) = (min(first, low), max(last, high))
        }
        var filter = filter
        let bounds = first <= last ? (first, last + 1) : (Int64.max, Int64.max)
        filter.since = RecordTime(milliseconds: max(filter.since?.milliseconds ?? bounds.0, bounds.0))
        filter.until = RecordTime(milliseconds: min(filter.until?.milliseconds ?? bounds.1, bounds.1))
        return filter
    }
}

extension RecordTable {
    /// The database tables with the rows of this table.
    fileprivate var tables: [String] {
        switch self {
        case .readings, .columns: ["telemetry"]
        case .events: ["events", "errors"]
        case .sessions: ["sessions"]
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
