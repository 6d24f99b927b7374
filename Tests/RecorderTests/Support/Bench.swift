import GRDB
import RecordFormat
import Recorder
import Synchronization
import TestSupport

/// A database in its own folder, and the reports of all recorders that write to it.
final class RecordBench: Sendable {
    let folder = TemporaryFolder()
    let reports = Watched<[RecorderReport]>([])

    var path: String { folder.path("data/record.sqlite") }

    /// Creates a recorder. Its clock stands still, 1000 s after 1970 began.
    func recorder(
        patience: Duration = .seconds(2), memoryLimit: Int = 16 << 20, interval: Duration = .milliseconds(200)
    ) -> Recorder {
        var options = Recorder.Options()
        options.patience = patience
        options.memoryLimit = memoryLimit
        options.interval = interval
        options.now = { RecordTime(milliseconds: 1_000_000) }
        return Recorder(at: path, options: options) { [reports] report in reports.update { $0.append(report) } }
    }

    /// Creates the database with its tables.
    func prepare() async throws {
        let recorder = recorder()
        try await recorder.flush()
        await recorder.close()
    }

    /// All rows of a table, without the heading.
    func rows(_ table: RecordTable, _ filter: RecordFilter = RecordFilter()) throws -> [[String]] {
        let rows = Mutex<[[String]]>([])
        try RecordReader(path).read(table, filter) { row in rows.withLock { $0.append(row) } }
        return Array(rows.withLock { $0 }.dropFirst())
    }

    /// The result of `sql`, queried from SQLite directly.
    func value<Value: DatabaseValueConvertible & Sendable>(_ sql: String) throws -> Value? {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }
        return try database.read { try Value.fetchOne($0, sql: sql) }
    }

    /// Waits for the end of a transaction in progress, and then counts the rows of a table. A commit changes the file
    /// before the new rows are visible.
    func countBehindCommit(_ table: RecordTable) throws -> Int {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? database.close() }
        return try database.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            defer { try? database.execute(sql: "ROLLBACK") }
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table.rawValue)") ?? 0
        }
    }
}

extension Reading {
    /// A reading with one number.
    init(_ name: String, _ value: Int) {
        self.init()
        add(name, value)
    }
}

/// A message that differs from the messages with other numbers by its id and its JSON.
func message(_ number: Int, id: String? = nil) -> StoredMessage {
    let digits = String(number, radix: 16, uppercase: true)
    let last = String(repeating: "0", count: 12 - digits.count) + digits
    return StoredMessage(
        id: id ?? "6F1E2C1A-0B7B-4C0E-9A77-\(last)", category: "Flooding",
        received: RecordTime(milliseconds: 1_000_000), json: #"{"content":"Hamilton Hall flooding","n":\#(number)}"#)
}
