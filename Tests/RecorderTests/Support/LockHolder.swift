import GRDB

/// Keeps the database locked against those who write, as another program does that is in the middle of something.
final class LockHolder: Sendable {
    private let database: DatabaseQueue

    init(_ bench: RecordBench) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        database = try DatabaseQueue(path: bench.path, configuration: configuration)
        try database.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func release() throws {
        try database.inDatabase { try $0.execute(sql: "COMMIT") }
        try database.close()
    }
}
