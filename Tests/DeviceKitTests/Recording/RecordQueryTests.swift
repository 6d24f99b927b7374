import DeviceKit
import RecordFormat
import Testing

@Suite("What was recorded")
struct RecordQueryTests {
    /// A program that says none of the answers, and ends as it should.
    private let silent = RecordProgram(path: "/bin/echo")
    private let failing = RecordProgram(path: "/bin/false")

    @Test("Where there is no record, a table has its columns and no rows", arguments: RecordTable.allCases)
    func nothing(table: RecordTable) throws {
        var query = try RecordQuery(table, RecordFilter(), by: silent)
        #expect(query.columns == table.columns)
        #expect(try query.next() == nil)
        #expect(try RecordQuery.series(columns: 80, RecordFilter(), by: silent).isEmpty)
    }

    @Test("A program that fails is an error, and no record without rows")
    func failure() throws {
        for ask in [
            { _ = try RecordQuery(.events, RecordFilter(), by: failing) },
            { _ = try RecordQuery.series(columns: 80, RecordFilter(), by: failing) },
            { _ = try RecordQuery.optimize(by: failing) }, { _ = try RecordQuery.place(by: failing) },
        ] {
            #expect(throws: Trouble.self) { try ask() }
        }
    }

    @Test("Where the record is must be said")
    func place() {
        let trouble = #expect(throws: Trouble.self) { try RecordQuery.place(by: silent) }
        #expect(trouble?.code == "lost")
    }
}
