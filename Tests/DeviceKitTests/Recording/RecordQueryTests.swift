import Foundation
import RecordFormat
import TestSupport
import Testing

@testable import DeviceKit

@Suite("Record queries")
struct RecordQueryTests {
    /// A program that prints no reply and exits with success.
    private let silent = CompanionProgram(path: "/bin/echo")
    private let failing = CompanionProgram(path: "/bin/false")

    @Test("Without a record a table has its columns and no rows", arguments: RecordTable.allCases)
    func nothing(table: RecordTable) throws {
        var query = try RecordQuery(table, RecordFilter(), by: silent)
        #expect(query.columns == table.columns)
        #expect(try query.next() == nil)
        #expect(try RecordQuery.series(columns: 80, RecordFilter(), by: silent).isEmpty)
    }

    @Test("A failing recorder program is an error, not an empty record")
    func failure() throws {
        for ask in [
            { _ = try RecordQuery(.events, RecordFilter(), by: failing) },
            { _ = try RecordQuery.series(columns: 80, RecordFilter(), by: failing) },
            { _ = try RecordQuery.optimize(by: failing) }, { _ = try RecordQuery.place(by: failing) },
        ] {
            #expect(throws: Trouble.self) { try ask() }
        }
    }

    @Test("A query that is given up leaves no zombie", .timeLimit(.minutes(1)))
    func givenUp() async throws {
        let folder = TemporaryFolder()
        // Prints the ID of its process, and ends with its input.
        let script = folder.write("#!/bin/sh\nprintf 'row\tpid\nrow\t%s\n' $$\nexec cat >/dev/null\n", to: "recorder")
        try #require(chmod(script, 0o700) == 0)
        func process() throws -> pid_t? {
            var query = try RecordQuery(.events, RecordFilter(), by: CompanionProgram(path: script))
            return try query.next().flatMap { pid_t($0[0]) }
        }
        let process = try #require(try process())
        while kill(process, 0) == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("A program that ends before the first request is reported with the reason it gave", .timeLimit(.minutes(1)))
    func endedEarly() async throws {
        let folder = TemporaryFolder()
        let trouble = Trouble(code: "no_home", text: "HOME is missing", hint: "set HOME")
        let mark = folder.path + "/ended"
        // Prints its problem, closes the connection, and then leaves a mark.
        let script = folder.write(
            "#!/bin/sh\necho '\(Answer.failing(trouble).line)'\nexec <&- >&-\n: >'\(mark)'\nexit 1\n", to: "recorder")
        try #require(chmod(script, 0o700) == 0)
        let conversation = try RecordConversation(["write"], by: CompanionProgram(path: script))
        while access(mark, F_OK) != 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        let reported = #expect(throws: Trouble.self) { try conversation.ask([.commit]) }
        #expect(reported == trouble)
    }

    @Test("A problem that has passed is not the reason of a later end")
    func passedProblem() throws {
        let folder = TemporaryFolder()
        let answers: [Answer] = [.failing(Trouble(code: "locked", text: "x", hint: "y")), .recovered(lost: 0)]
        let lines = answers.map { "echo '\($0.line)'\n" }.joined()
        let script = folder.write("#!/bin/sh\n\(lines)kill -9 $$\n", to: "recorder")
        try #require(chmod(script, 0o700) == 0)
        let conversation = try RecordConversation(["write"], by: CompanionProgram(path: script))
        let trouble = #expect(throws: Trouble.self) { while try conversation.next() != nil {} }
        #expect(trouble?.code == "lost")
    }

    @Test("A missing record location is an error")
    func place() {
        let trouble = #expect(throws: Trouble.self) { try RecordQuery.place(by: silent) }
        #expect(trouble?.code == "lost")
    }

    private let columns = ["time_ms", "session", "device", "ended_ms", "reading"]

    @Test("A row is one JSON object with calendar times and the members of its reading")
    func objects() {
        #expect(
            RecordQuery.object(columns, ["0", "7", #""usb:\"x\"""#, "null", #"{"temp_c":20,"state":"on"}"#])
                == #"{"time":"1970-01-01T00:00:00.000Z","session":7,"device":"usb:\"x\"","ended":null,"temp_c":20,"#
                + #""state":"on"}"#)
        #expect(
            RecordQuery.object(columns, ["0", "7", "null", "1500", "{}"])
                == #"{"time":"1970-01-01T00:00:00.000Z","session":7,"device":null,"ended":"1970-01-01T00:00:01.500Z"}"#)
    }

    @Test("The texts of a row have no quotes, no null and no control characters")
    func texts() throws {
        #expect(
            RecordQuery.texts(columns, ["0", "7", #""a\u001b[2J""#, "null", "-1.5"]) { "\($0.milliseconds)" }
                == ["0", "7", "a\\x1b[2J", "", "-1.5"])
        let headings = try RecordQuery(.sessions, RecordFilter(), by: silent).headings
        #expect(headings.first == "time" && headings.contains("ended") && !headings.contains("ended_ms"))
    }
}
