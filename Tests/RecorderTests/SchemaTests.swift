import Foundation
import GRDB
import RecordFormat
import Recorder
import TestSupport
import Testing

@Suite("Schema")
struct SchemaTests {
    private let bench = RecordBench()

    /// Restores a database that an older version has written.
    private func restore() throws {
        let url = try #require(
            Bundle.module.url(forResource: "record-1", withExtension: "sql", subdirectory: "Fixtures"))
        try bench.folder.makeFolder("data")
        let database = try DatabaseQueue(path: bench.path)
        try database.write { try $0.execute(sql: String(contentsOf: url, encoding: .utf8)) }
        try database.close()
    }

    @Test("An older database is readable without migration")
    func read() throws {
        try restore()
        #expect(try bench.rows(.columns).first?.suffix(3) == [#""on""#, "70", "34.5"])
        try RecordReader(bench.path).readMessages { Issue.record("there was no table of messages: \($0)") }
    }

    @Test("Migrating an older database adds the missing tables and keeps its rows")
    func migrate() async throws {
        try restore()
        let recorder = bench.recorder()
        #expect(try await recorder.commit([message(1)]) == [true])
        let session = recorder.beginSession(family: "pump", endpoint: "x", device: nil)
        recorder.record(.reading(kind: "status", Reading("speed_percent", 78)), in: session)
        await recorder.close()
        // Ordered by time: the fixture's rows are from 2025, the recorder's from 1970.
        #expect(try bench.rows(.columns).map { $0[6] } == ["78", "70"])
        #expect(try bench.rows(.sessions).map { $0[1] } == ["2", "1"])
        #expect(bench.reports.state == [])
    }
}
