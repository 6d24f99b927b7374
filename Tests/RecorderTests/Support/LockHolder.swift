import GRDB

/// Locks the database against writers, like another program in the middle of a transaction.
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
