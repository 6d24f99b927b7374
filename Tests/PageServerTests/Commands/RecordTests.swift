import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Recorded values by HTTP", .timeLimit(.minutes(5)))
struct RecordTests {
    private let path = "/api/v1/devices/pump/history"

    /// Asks for recorded values, and answers as the daemon. Returns the daemon's request too.
    private func ask(
        _ query: String, _ answer: [String: JSONValue], accept: String = "*/*"
    ) async throws -> (response: PageClient.Response, request: JSONValue) {
        var (response, request): (PageClient.Response?, JSONValue?)
        try await PageBench.run { bench in
            let asking = Task { try await bench.ask("GET", path + query, more: "Accept: \(accept)\r\n") }
            let heard = try await bench.daemon.next("history")
            request = heard.request
            try await heard.answer(answer)
            response = try await asking.value
        }
        return (try #require(response), try #require(request))
    }

    @Test("The daemon gets the times and the width, and its answer is passed on")
    func series() async throws {
        let (response, request) = try await ask("?since=2h&until=1h&columns=860", ["series": .array([])])
        #expect(request["device"]?.text == "pump")
        #expect(request["since"]?.text == "2h")
        #expect(request["until"]?.text == "1h")
        #expect(request["columns"]?.integer == 860)
        #expect(String(decoding: response.body, as: UTF8.self) == "{\"series\":[]}\n")
    }

    @Test("Rows are CSV for a client that prefers it")
    func csv() async throws {
        let rows = try JSONValue(
            parsing:
                #"[{"time":"2026-11-20T17:04:05.000Z","state":"on","temp_c":null},{"time":"t","note":"a \"b\", c"}]"#)
        let (response, _) = try await ask("", ["rows": rows, "complete": true], accept: "text/csv")
        #expect(response.head.contains("Content-Type: text/csv; charset=utf-8\r\n"))
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == "time,note,state,temp_c\r\n2026-11-20T17:04:05.000Z,,on,\r\nt,\"a \"\"b\"\", c\",,\r\n")
    }

    @Test("Series are CSV with a point in each row")
    func csvOfSeries() async throws {
        let series = try JSONValue(parsing: #"[{"key":"temp_c","points":[[1000,1.5],[2000,2]],"starts":[0]}]"#)
        let (response, _) = try await ask("?columns=2", ["series": series], accept: "text/csv, */*;q=0.1")
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == "time_ms,key,part,value\r\n1000,temp_c,,1.5\r\n2000,temp_c,,2\r\n")
    }

    @Test("A table that would be cut off is refused, as CSV can't be marked as incomplete")
    func tooManyRows() async throws {
        let (response, _) = try await ask("", ["rows": .array([]), "complete": false], accept: "text/csv")
        #expect(response.status == 413)
        #expect(response.code == "too_many_rows")
    }

    @Test("Wrong parameters are refused", arguments: ["?columns=x", "?column=1", "?since=1h&since=2h"])
    func wrong(query: String) async throws {
        try await PageBench.run { bench in
            let response = try await bench.ask("GET", path + query)
            #expect(response.status == 400)
            #expect(bench.daemon.count("history") == 0)
        }
    }

    @Test("Messages come from the daemon, which gets the limit of the request")
    func messages() async throws {
        try await PageBench.run { bench in
            let asking = Task { try await bench.ask("GET", "/api/v1/messages?limit=20") }
            let heard = try await bench.daemon.next("messages")
            #expect(heard.request["limit"]?.integer == 20)
            try await heard.answer(["messages": .array([]), "complete": true])
            let body = try await asking.value.body
            #expect(String(decoding: body, as: UTF8.self) == "{\"complete\":true,\"messages\":[]}\n")
        }
    }

    @Test("Wrong parameters of messages are refused", arguments: ["?limit=x", "?limit=", "?columns=1"])
    func wrongMessages(query: String) async throws {
        try await PageBench.run { bench in
            let response = try await bench.ask("GET", "/api/v1/messages" + query)
            #expect(response.status == 400)
            #expect(bench.daemon.count("messages") == 0)
        }
    }

    @Test("Findings come from the daemon")
    func findings() async throws {
        try await PageBench.run { bench in
            let asking = Task { try await bench.ask("GET", "/api/v1/findings?device=pump") }
            let heard = try await bench.daemon.next("findings")
            #expect(heard.request["device"]?.text == "pump")
            try await heard.answer(["findings": .array([])])
            let body = try await asking.value.body
            #expect(String(decoding: body, as: UTF8.self) == "{\"findings\":[]}\n")
        }
    }
}
