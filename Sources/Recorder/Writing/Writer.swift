internal import GRDB
internal import Glibc
internal import RecordFormat
// Disambiguates from GRDB's Record.
internal import struct RecordFormat.Record

/// Writes the queue's requests in batches, until the queue is closed. Runs on one thread.
struct Writer {
    /// The delay before failed writing is retried: at first twice the shortest, then doubled at each failure up to the
    /// longest.
    private static let shortestRetry = Duration.milliseconds(500)
    private static let longestRetry = Duration.seconds(30)

    private let path: String
    private let queue: WriteQueue
    private let patience: Duration
    private let report: @Sendable (RecorderReport) -> Void

    private var database: OpenDatabase?
    private var sessions = SessionLedger()
    /// The requests that are not written yet.
    private var pending: [Work] = []
    private var tally = RecorderTally()
    /// Whether the last attempt failed. The failure was reported.
    private var isFailing = false
    /// Whether records were dropped, and not all others are written yet. The drop was reported.
    private var isOverflowing = false
    private var retryDelay = Writer.shortestRetry

    init(
        _ path: String, _ queue: WriteQueue, patience: Duration, report: @escaping @Sendable (RecorderReport) -> Void
    ) {
        self.path = path
        self.queue = queue
        self.patience = patience
        self.report = report
    }

    /// Writes until the queue is closed, and returns the numbers of written and lost records.
    mutating func run() -> RecorderTally {
        while true {
            let batch = queue.take(retryingAt: pending.isEmpty ? nil : .now.advanced(by: retryDelay))
            pending += batch.work
            tally.lost += batch.turnedAway
            if batch.turnedAway > 0 {
                if !isOverflowing { report(.overflowing) }
                isOverflowing = true
            }
            if !pending.isEmpty { attempt() }
            if batch.turnedAway == 0, pending.isEmpty { isOverflowing = false }
            if batch.isLast { break }
        }
        tally.lost += pending.count
        database?.close()
        return tally
    }

    /// Writes the pending requests, and reports a failure or a recovery.
    private mutating func attempt() {
        do throws(RecorderError) {
            let receipts = try writePending()
            // Report before resuming the waiting callers, which may look at the reports.
            if isFailing { report(.recovered(lost: tally.lost)) }
            isFailing = false
            retryDelay = Self.shortestRetry
            for (receipt, isNew) in receipts { receipt(.success(isNew)) }
        } catch {
            if !isFailing { report(.failing(error)) }
            isFailing = true
            retryDelay = min(retryDelay * 2, Self.longestRetry)
            dismissAwaited(error)
        }
    }

    /// Writes the pending requests. Returns the results for waiting callers.
    private mutating func writePending() throws(RecorderError) -> [(Work.Receipt, [Bool])] {
        let database = try openDatabase()
        let transaction: Transaction
        do {
            transaction = try database.queue.inDatabase { [pending, sessions] db in
                var transaction = Transaction(sessions: sessions)
                try db.inTransaction(.immediate) {
                    for work in pending { try transaction.write(work, db) }
                    return .commit
                }
                return transaction
            }
        } catch {
            throw RecorderError(error, path: path, activity: "write to")
        }
        sessions = transaction.sessions
        tally.written += transaction.recordCount
        queue.release(pending.reduce(0) { $0 + $1.cost })
        pending = []
        return transaction.receipts
    }

    /// Returns the database, opened at the first call, and again if its file was removed or replaced.
    private mutating func openDatabase() throws(RecorderError) -> OpenDatabase {
        if let database, database.isInPlace { return database }
        database?.close()
        database = nil
        sessions.forgetRows()
        let database = OpenDatabase(path, try RecordFile.openToWrite(path, patience: patience))
        self.database = database
        return database
    }

    /// Reports the failure to waiting callers and drops their requests, which have no ``Work/cost``. All other requests
    /// are kept for a retry.
    private mutating func dismissAwaited(_ error: RecorderError) {
        for case .commit(_, _, let receipt) in pending { receipt(.failure(error)) }
        pending.removeAll(where: \.isAwaited)
    }
}

/// An open database and the identity of its file.
private struct OpenDatabase {
    let queue: DatabaseQueue
    private let path: String
    private let inode: ino_t?

    init(_ path: String, _ queue: DatabaseQueue) {
        self.path = path
        self.queue = queue
        inode = Self.inode(path)
    }

    /// Whether the path still leads to the opened file. Otherwise SQLite would write to a file that nobody can find.
    var isInPlace: Bool { inode != nil && inode == Self.inode(path) }

    func close() { try? queue.close() }

    private static func inode(_ path: String) -> ino_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_ino : nil
    }
}

/// The sessions being recorded, and the IDs of their rows in the database.
struct SessionLedger: Sendable {
    struct Session: Sendable {
        var family: String
        var endpoint: String
        var device: String?
        var begun: RecordTime
        /// The ID of the session's row; nil while no row is inserted.
        var row: Int64?
        /// Whether the session has ended. Only events are still recorded, such as that of a command whose reply was still
        /// expected when the link ended.
        var hasEnded = false
    }

    var sessions: [UInt64: Session] = [:]

    /// Begins a session, and forgets the ended sessions of the same endpoint, so that the ledger does not grow with
    /// each reconnection.
    mutating func begin(_ number: UInt64, _ session: Session) {
        sessions = sessions.filter { !$0.value.hasEnded || $0.value.endpoint != session.endpoint }
        sessions[number] = session
    }

    /// Forgets the IDs of the rows, whose database is gone, and the sessions that have ended.
    mutating func forgetRows() {
        sessions = sessions.filter { !$0.value.hasEnded }
        for number in sessions.keys { sessions[number]?.row = nil }
    }
}

/// The changes of one commit, which are discarded if the commit fails.
private struct Transaction {
    var sessions: SessionLedger
    var recordCount = 0
    var receipts: [(Work.Receipt, [Bool])] = []

    init(sessions: SessionLedger) { self.sessions = sessions }

    mutating func write(_ work: Work, _ db: Database) throws {
        switch work {
        case .record(let record):
            try insert(record, db)
            recordCount += 1
        case .commit(let messages, let ids, let receipt):
            var isNew: [Bool] = []
            for message in messages { isNew.append(try insert(message, db)) }
            for id in ids {
                try db.cachedStatement(sql: "UPDATE messages SET status = 'synced' WHERE id = ?")
                    .execute(arguments: [id])
            }
            receipts.append((receipt, isNew))
        }
    }

    /// Stores a record. Records of a session that has not begun are ignored, and of an ended session all but events.
    private mutating func insert(_ record: Record, _ db: Database) throws {
        let time = record.time.milliseconds
        if case .begun(let family, let endpoint, let device) = record.content {
            sessions.begin(
                record.session,
                SessionLedger.Session(family: family, endpoint: endpoint, device: device, begun: record.time))
        }
        if case .event = record.content {} else if sessions.sessions[record.session]?.hasEnded == true { return }
        guard let row = try row(of: record.session, db) else { return }
        switch record.content {
        case .begun: break
        case .reading(let kind, let reading):
            try db.cachedStatement(
                sql: "INSERT INTO telemetry (session_id, time_ms, kind, reading) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [row, time, kind, reading.json])
        case .event(let kind, let text):
            try db.cachedStatement(sql: "INSERT INTO events (session_id, time_ms, kind, text) VALUES (?, ?, ?, ?)")
                .execute(arguments: [row, time, kind, text])
        case .error(let code, let text):
            try db.cachedStatement(sql: "INSERT INTO errors (session_id, time_ms, code, text) VALUES (?, ?, ?, ?)")
                .execute(arguments: [row, time, code, text])
        case .ended(let reason):
            try db.cachedStatement(sql: "UPDATE sessions SET ended_ms = ?, ending = ? WHERE id = ?")
                .execute(arguments: [time, reason, row])
            sessions.sessions[record.session]?.hasEnded = true
        }
    }

    /// Returns the row ID of a session, and inserts a row if there is none; nil for a session that has not begun.
    private mutating func row(of number: UInt64, _ db: Database) throws -> Int64? {
        guard let session = sessions.sessions[number] else { return nil }
        if let row = session.row { return row }
        try db.cachedStatement(sql: "INSERT INTO sessions (family, endpoint, device, begun_ms) VALUES (?, ?, ?, ?)")
            .execute(arguments: [session.family, session.endpoint, session.device, session.begun.milliseconds])
        sessions.sessions[number]?.row = db.lastInsertedRowID
        return db.lastInsertedRowID
    }

    /// Inserts a message. Returns false if its ID is already stored.
    private func insert(_ message: StoredMessage, _ db: Database) throws -> Bool {
        try db.cachedStatement(
            sql: """
                INSERT INTO messages (id, category, status, received_ms, message) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (id) DO NOTHING
                """
        ).execute(arguments: [
            message.id, message.category, message.status.rawValue, message.received.milliseconds, message.json,
        ])
        return db.changesCount > 0
    }
}
