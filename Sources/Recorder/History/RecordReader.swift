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
        try look { db in
            if try Schema.migrator.hasBeenSuperseded(db) {
                throw RecorderError(.newerSchema, path: path, activity: "read")
            }
        }
    }

    /// Whether sessions are counted, and a device's rows found, by an index; see ``RecordFile/optimize(_:)``.
    public var isOptimized: Bool { get throws(RecorderError) { try look(SessionIndex.exists) } }

    /// Hands out a table, row by row, the earliest first. Of ``RecordTable/sessions`` those that were open at some time of
    /// the filter's.
    ///
    /// - Parameters:
    ///   - table: Which table.
    ///   - filter: Which rows of it.
    ///   - body: Gets the names of the columns first, and then each row: pieces of JSON, `null` where there is nothing.
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

    /// Folds what devices have told into values over time, each with at most two points, its lowest and its highest, in each
    /// of `columns` equal parts of the time from the first reading to the last. It takes no more memory for more readings.
    ///
    /// - Returns: The values that are numbers, yes or no, and the states of pumps, in the order in which they came first.
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

    /// Hands out messages one by one, in the order in which they were kept.
    public func readMessages(
        _ filter: MessageFilter = MessageFilter(), _ body: (StoredMessage) throws -> Void
    ) throws(RecorderError) {
        try look { db in
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
    }

    /// Runs `body` on the database as it is at one moment, whatever is recorded meanwhile.
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

    /// Hands out the readings, the earliest first: session, milliseconds, JSON.
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

    /// The times of the first reading and of the last, in milliseconds; nil where there are none.
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

    /// The filter with the times between which the tables have rows of its sessions, so that no others are looked at: they
    /// are read in the order of time. Without the index that would take longer than it spares.
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
    /// The tables of the database that its rows come from.
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
