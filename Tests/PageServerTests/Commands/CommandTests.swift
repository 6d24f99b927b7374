import DescriptorIO
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Commands by HTTP", .timeLimit(.minutes(5)))
struct CommandTests {
    private let id = "3fa2c1d0-0000-4000-8000-000000000001"

    @Test("A change reaches the daemon once, and the same id gets the same answer")
    func once() async throws {
        try await PageBench.run { bench in
            let seen = try await bench.seen()
            let first = bench.change("on", id: id, seen: seen)
            let heard = try await bench.daemon.next("command")
            #expect(heard.request["name"]?.text == "on")
            let second = bench.change("on", id: id.uppercased(), seen: seen)
            try await heard.answer(["reply": .array(["OK", "PUMP:ON"])])
            for task in [first, second] {
                let response = try await task.value
                #expect(response.status == 200)
                #expect(response.outcome == "done")
                #expect(response.json["reply"]?.elements?.map(\.text) == ["OK", "PUMP:ON"])
            }
            let other = try await bench.change("off", id: id, seen: seen).value
            #expect(other.status == 409)
            #expect(other.code == "id_reused")
            #expect(bench.daemon.count("command") == 0)
        }
    }

    @Test("A change by an old view is refused, and is not sent")
    func staleView() async throws {
        try await PageBench.run { bench in
            let seen = try #require(try await bench.seen().integer)
            for wrong in [seen - 1000, seen + 1000, 0, -1] {
                let response = try await bench.change("on", id: id, seen: .integer(wrong)).value
                #expect(response.status == 409)
                #expect(response.code == "stale_view")
                #expect(response.outcome == "not_sent")
            }
            #expect(bench.daemon.count("command") == 0)
        }
    }

    @Test("A change by a view from before a loss of the device is refused; one after it is sent")
    func lossOfLink() async throws {
        try await PageBench.run { bench in
            let seen = try await bench.seen()
            let watch = try await bench.daemon.next("subscribe")
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            for link in ["lost", "up"] {
                try await watch.channel.write(
                    Array("{\"event\":\"link\",\"device\":\"pump\",\"link\":\"\(link)\"}\n".utf8))
                _ = try await stream.event("link")
            }
            #expect(try await bench.change("on", id: id, seen: seen).value.code == "stale_view")
            #expect(bench.daemon.count("command") == 0)
            // The first id has its answer.
            let other = "3fa2c1d0-0000-4000-8000-000000000002"
            let change = bench.change("on", id: other, seen: try await bench.seen())
            try await bench.daemon.next("command").answer(["reply": .array([])])
            #expect(try await change.value.status == 200)
            await stream.channel.close()
        }
    }

    @Test("A command without an id must be a query")
    func query() async throws {
        try await PageBench.run { bench in
            let asking = Task {
                try await bench.ask("POST", "/api/v1/devices/pump/commands", object(["name": "status"]))
            }
            let heard = try await bench.daemon.next("command")
            #expect(heard.request["effect"]?.text == "query")
            try await heard.answer(["reply": .array(["STATUS:{State:OFF}"])])
            #expect(try await asking.value.status == 200)
        }
    }

    @Test(
        "The daemon's failures keep their code and outcome",
        arguments: [
            ("usage", "not_sent", 400), ("no_such_device", "not_sent", 404), ("device_away", "not_sent", 503),
            ("refused", "nothing_changed", 409), ("overtaken", "not_sent", 409), ("no_answer", "unknown", 504),
            ("link_lost", "unknown", 504), ("not_in_effect", "unknown", 504), ("too_many_requests", "not_sent", 429),
            ("no_answer", "nothing_changed", 504), ("cancelled", "not_sent", 503),
        ])
    func failures(failure: (code: String, outcome: String, status: Int)) async throws {
        try await PageBench.run { bench in
            let change = bench.change("on", id: id, seen: try await bench.seen())
            try await bench.daemon.next("command").answer([
                "ok": false,
                "error": object([
                    "code": .text(failure.code), "message": "m", "hint": "h", "outcome": .text(failure.outcome),
                    "device_code": "D",
                ]),
            ])
            let response = try await change.value
            #expect(response.status == failure.status)
            #expect(response.code == failure.code)
            #expect(response.outcome == failure.outcome)
            #expect(response.json["device_code"]?.text == "D")
            #expect(response.json["detail"]?.text == "m")
            #expect(response.json["hint"]?.text == "h")
        }
    }

    @Test("A daemon that ends before the answer leaves the outcome unknown")
    func daemonEnds() async throws {
        try await PageBench.run { bench in
            let change = bench.change("on", id: id, seen: try await bench.seen())
            await (try await bench.daemon.next("command")).channel.close()
            let response = try await change.value
            #expect(response.status == 504)
            #expect(response.code == "daemon_lost")
            #expect(response.outcome == "unknown")
            // The same command again asks nobody.
            #expect(try await bench.change("on", id: id, seen: 0).value.body == response.body)
        }
    }

    @Test("Without a daemon nothing is sent, and nothing is reported as known")
    func noDaemon() async throws {
        try await PageBench.run { bench in
            await bench.daemon.close()
            let stop = try await bench.ask("POST", "/api/v1/devices/pump/stop")
            #expect(stop.status == 503)
            #expect(stop.code == "daemon_away")
            #expect(stop.outcome == "not_sent")
            let devices = try await bench.ask("GET", "/api/v1/devices")
            #expect(devices.status == 503)
            #expect(devices.code == "daemon_away")
        }
    }

    @Test("A daemon of another version is named")
    func otherVersion() async throws {
        try await PageBench.run(version: 2) { bench in
            let response = try await bench.ask("POST", "/api/v1/devices/pump/stop")
            #expect(response.status == 503)
            #expect(response.code == "daemon_version")
        }
    }

    @Test("Stops are sent at once, and a fifth waits for all that come later")
    func stops() async throws {
        try await PageBench.run { bench in
            var stops: [Task<PageClient.Response, any Error>] = []
            for number in 1...StopQueue.limit + 3 {
                stops.append(Task { try await bench.ask("POST", "/api/v1/devices/pump/stop?x", object(["x": 1])) })
                // The daemon gets four, and no more.
                guard number <= StopQueue.limit else { continue }
                _ = try await bench.daemon.next("stop")
            }
            #expect(bench.daemon.count("stop") == 0)
            for stop in stops { stop.cancel() }
        }
    }

    @Test("A stop needs no body, and gets by a limit of commands")
    func stopByLimit() async throws {
        var limits = PageSettings.Limits()
        limits.commands = 1
        try await PageBench.run(limits: limits) { bench in
            let seen = try await bench.seen()
            let change = bench.change("on", id: id, seen: seen)
            let heard = try await bench.daemon.next("command")
            let other = try await bench.change("on", id: "3fa2c1d0-0000-4000-8000-000000000002", seen: seen).value
            #expect(other.status == 429)
            #expect(other.outcome == "not_sent")
            let stop = Task { try await bench.ask("POST", "/api/v1/devices/pump/stop") }
            try await bench.daemon.next("stop").answer(["reply": .array(["OK", "PUMP:OFF"])])
            #expect(try await stop.value.status == 200)
            try await heard.answer(["reply": .array([])])
            #expect(try await change.value.status == 200)
        }
    }

    @Test(
        "Wrong bodies are refused",
        arguments: [
            #"{"id":"x","seen":1,"name":"on"}"#, #"{"id":1,"seen":1,"name":"on"}"#, #"{"name":1}"#, "{}", "[]", "1",
            #"{"name":"on","name":"off"}"#, #"{"name":"on","parameters":[]}"#, #"{"name":"on","force":true}"#,
            #"{"id":"3fa2c1d0-0000-4000-8000-000000000001","name":"on"}"#, #"{"seen":1,"name":"on"}"#,
        ])
    func wrongBodies(body: String) async throws {
        try await PageBench.run { bench in
            let response = try await bench.ask(
                "POST", "/api/v1/devices/pump/commands", try JSONValue(Array(body.utf8), size: .max, isLenient: true))
            #expect(response.status == 400)
            #expect(response.outcome == "not_sent")
            #expect(bench.daemon.count("command") == 0)
        }
    }
}
