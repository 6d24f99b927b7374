import Foundation
import GRDB
import RecordFormat
import TestSupport
import Testing

@testable import Recorder

// GRDB also has a type Record.
import struct RecordFormat.Record

@Suite("Query plans of the record")
struct HistoryPlanTests {
    private let bench = RecordBench()

    /// SQLite's query plan for a table, one line per step.
    private func plan(_ table: RecordTable, _ filter: RecordFilter) throws -> [String] {
        let database = try DatabaseQueue(path: bench.path)
        defer { try? database.close() }
        return try database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + table.sql(filter), arguments: filter.arguments)
                .map { $0["detail"] }
        }
    }

    /// For each change, an empty filter with this change.
    private func filters(_ change: (inout RecordFilter) -> Void...) -> [RecordFilter] {
        change.map { change in
            var filter = RecordFilter()
            change(&filter)
            return filter
        }
    }

    @Test(
        "A time filter uses the time index, and rows are not sorted again", arguments: [true, false])
    func times(isOptimized: Bool) async throws {
        try await bench.prepare()
        if !isOptimized { try bench.dropIndex() }
        let time = RecordTime(milliseconds: 1000)
        for filter in filters(
            { $0.since = time }, { $0.until = time },
            {
                $0.since = time
                $0.device = "x"
            },
            {
                $0.until = time
                $0.family = "pump"
            })
        {
            for (table, index) in [(RecordTable.readings, "telemetry_time"), (.columns, "telemetry_time")] {
                let plan = try plan(table, filter)
                #expect(plan.contains { $0.hasPrefix("SEARCH row USING INDEX \(index) (time_ms") }, "\(plan)")
                #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
            }
            let plan = try plan(.events, filter)
            for table in ["events", "errors"] {
                #expect(plan.contains { $0.contains("SEARCH \(table) USING INDEX \(table)_time (time_ms") }, "\(plan)")
            }
        }
    }

    @Test(
        "Counting sessions takes one pass over each table, in the session index if it exists", arguments: [true, false])
    func sessions(isOptimized: Bool) async throws {
        try await bench.prepare()
        if !isOptimized { try bench.dropIndex() }
        for filter in filters({ _ in }, { $0.since = RecordTime(milliseconds: 1000) }, { $0.device = "x" }) {
            let plan = try plan(.sessions, filter)
            #expect(!plan.contains { $0.contains("CORRELATED") }, "\(plan)")
            for table in ["telemetry", "events", "errors"] {
                let passes = plan.filter { $0.contains(" \(table) ") || $0.hasSuffix(" \(table)") }
                #expect(passes.count == 1, "\(plan)")
                #expect(passes.allSatisfy { $0.contains("COVERING INDEX \(table)_session") } == isOptimized, "\(plan)")
            }
        }
    }

    @Test("A new database has the session index")
    func new() async throws {
        try await bench.prepare()
        #expect(try RecordReader(bench.path).isOptimized)
        #expect(try RecordFile.optimize(bench.path) == false)
    }

    @Test("Writing adds the session index to a small database; a large one needs an explicit request")
    func old() async throws {
        try await bench.prepare()
        try bench.dropIndex()
        try await bench.prepare()
        #expect(try RecordReader(bench.path).isOptimized)

        try bench.dropIndex()
        // A row number above 100,000 makes a table count as large.
        try bench.execute(
            """
            INSERT INTO sessions (id, family, endpoint, begun_ms) VALUES (1, 'pump', 'x', 0);
            INSERT INTO telemetry VALUES (100001, 1, 0, 'status', '{}');
            """)
        try await bench.prepare()
        #expect(try !RecordReader(bench.path).isOptimized)
        #expect(try RecordFile.optimize(bench.path))
        #expect(try RecordReader(bench.path).isOptimized)
        #expect(try bench.rows(.sessions).map { $0[7] } == ["1"])
    }

    @Test("A device's rows are the same with and without the session index", arguments: [true, false])
    func sameRows(isOptimized: Bool) async throws {
        let recorder = bench.recorder()
        for name in ["a", "b"] {
            let session = recorder.beginSession(family: "pump", endpoint: name, device: nil)
            for second in [5, 1, 3] {
                let time = RecordTime(milliseconds: Int64(second) * 1000)
                recorder.record(Record(session: session, time: time, .reading(kind: "n", Reading(name, second))))
                recorder.record(Record(session: session, time: time, .event(kind: "e", text: "\(second)")))
                recorder.record(Record(session: session, time: time, .error(code: "f", text: "\(second)")))
            }
        }
        await recorder.close()
        if !isOptimized { try bench.dropIndex() }
        var filter = RecordFilter()
        filter.device = "b"
        #expect(try bench.rows(.readings, filter).map(\.last) == [#"{"b":1}"#, #"{"b":3}"#, #"{"b":5}"#])
        #expect(try bench.rows(.events, filter).count == 6)
        filter.since = RecordTime(milliseconds: 2000)
        filter.until = RecordTime(milliseconds: 5000)
        #expect(try bench.rows(.columns, filter).map(\.last) == ["3"])
        #expect(try bench.rows(.events, filter).count == 2)
        filter.device = "c"
        #expect(try bench.rows(.columns, filter).isEmpty)
    }

    @Test("A time range selects the sessions open in it; an unended session lasts until its last row")
    func openSessions() async throws {
        let recorder = bench.recorder()
        let sessions: [(String, Int, Int, Int?)] = [
            ("a", 1, 2, 3), ("b", 1, 9, nil), ("c", 1, 4, nil), ("d", 8, 8, 20),
        ]
        for (name, begin, last, end) in sessions {
            let session = UInt64(name.utf8.first ?? 0)
            let records: [(Int, Record.Content)] = [
                (begin, .begun(family: "pump", endpoint: name, device: nil)),
                (last, .reading(kind: "n", Reading("n", 1))),
            ]
            for (second, content) in records + (end.map { [($0, .ended(reason: "closed"))] } ?? []) {
                recorder.record(Record(session: session, time: RecordTime(milliseconds: Int64(second) * 1000), content))
            }
        }
        await recorder.close()
        func endpoints(since: Int64?, until: Int64?) throws -> [String] {
            var filter = RecordFilter()
            filter.since = since.map { RecordTime(milliseconds: $0 * 1000) }
            filter.until = until.map { RecordTime(milliseconds: $0 * 1000) }
            return try bench.rows(.sessions, filter).map { $0[3] }
        }
        #expect(try endpoints(since: 5, until: nil) == [#""b""#, #""d""#])
        #expect(try endpoints(since: 3, until: 8) == [#""a""#, #""b""#, #""c""#])
        #expect(try endpoints(since: nil, until: nil).count == 4)
    }
}

extension RecordBench {
    /// Executes SQL on the database.
    func execute(_ sql: String) throws {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Drops the indexes by session, which a database of an older version does not have.
    func dropIndex() throws {
        try execute(["telemetry", "events", "errors"].map { "DROP INDEX \($0)_session;" }.joined())
    }
}
