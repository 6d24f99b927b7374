import DescriptorIO
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

/// A view is the state of the devices that a client has been shown. Its number, `seen` in a request, is that of the
/// last event in it.
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
            let other = try await bench.change("reset", id: id, seen: seen).value
            #expect(other.status == 409)
            #expect(other.code == "id_reused")
            #expect(bench.daemon.count("command") == 0)
        }
    }

    @Test("A change with the number of an old or unknown view is refused and not sent")
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
            // The first ID has an answer already, which a second change would get.
            let other = "3fa2c1d0-0000-4000-8000-000000000002"
            let change = bench.change("on", id: other, seen: try await bench.seen())
            try await bench.daemon.next("command").answer(["reply": .array([])])
            #expect(try await change.value.status == 200)
            await stream.channel.close()
        }
    }

    @Test("A change of a device whose link is lost is not sent")
    func deviceAway() async throws {
        try await PageBench.run { bench in
            _ = try await bench.seen()
            let watch = try await bench.daemon.next("subscribe")
            try await watch.channel.write(Array("{\"event\":\"state\",\"device\":\"pump\",\"link\":\"lost\"}\n".utf8))
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            // The daemon has sent its event before it answers this request.
            let seen = try await bench.seen()
            let response = try await bench.change("on", id: id, seen: seen).value
            #expect(response.code == "device_away")
            #expect(response.outcome == "not_sent")
            #expect(bench.daemon.count("command") == 0)
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
            // The same command again gets the same answer without a request to the daemon.
            #expect(try await bench.change("on", id: id, seen: 0).value.body == response.body)
        }
    }

    @Test("Without a daemon, a stop is not sent, and a list of devices fails")
    func noDaemon() async throws {
        var limits = PageSettings.Limits()
        // Do not repeat a stop while the daemon is away.
        limits.stop = 0
        try await PageBench.run(limits: limits) { bench in
            await bench.daemon.close()
            let stop = try await bench.stop().value
            #expect(stop.status == 503)
            #expect(stop.code == "daemon_away")
            #expect(stop.outcome == "not_sent")
            let devices = try await bench.ask("GET", "/api/v1/devices")
            #expect(devices.status == 503)
            #expect(devices.code == "daemon_away")
        }
    }

    @Test(
        "A greeting of another version, or one that refuses this server, fails each request with its code",
        arguments: [
            (#"{"event":"hello","version":2}"#, "daemon_version"),
            (#"{"id":null,"ok":false,"error":{"code":"too_many_clients","message":"m"}}"#, "too_many_clients"),
        ])
    func otherHello(hello: (line: String, code: String)) async throws {
        var limits = PageSettings.Limits()
        // Do not repeat a stop while the daemon is away.
        limits.stop = 0
        try await PageBench.run(limits: limits, hello: hello.line) { bench in
            let stop = try await bench.stop().value
            #expect(stop.code == hello.code)
            #expect(try await bench.ask("GET", "/api/v1/devices").code == hello.code)
        }
    }

    @Test("A change that waits in the daemon is cancelled when the last client that requested it leaves")
    func askersLeave() async throws {
        try await PageBench.run { bench in
            let change = object(["id": .text(id), "seen": try await bench.seen(), "name": "on"])
            var clients: [PageClient] = []
            for _ in 0..<2 {
                let client = try await bench.client()
                _ = try await client.ask("GET", "/api/v1/session", token: bench.token)
                try await client.send("POST", "/api/v1/devices/pump/commands", change, token: bench.token)
                clients.append(client)
            }
            let heard = try await bench.daemon.next("command")
            try await bench.untilTaken()
            await clients[0].channel.close()
            try await bench.untilTaken()
            #expect(!bench.daemon.hasEnded(heard.channel))
            await clients[1].channel.close()
            try await bench.daemon.untilEnded(heard.channel)
            // The same change again is not sent.
            let again = try await bench.change("on", id: id, seen: 0).value
            #expect(again.code == "cancelled")
            #expect(again.outcome == "unknown")
        }
    }

    @Test("A view that was shown while the daemon or the device was away is old once it is back")
    func awayView() async throws {
        try await PageBench.run { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            let watch = try await bench.daemon.next("subscribe")
            try await watch.channel.write(Array("{\"event\":\"link\",\"device\":\"pump\",\"link\":\"lost\"}\n".utf8))
            let lost = try await stream.event("link").number
            try await watch.channel.write(Array("{\"event\":\"link\",\"device\":\"pump\",\"link\":\"up\"}\n".utf8))
            _ = try await stream.event("link")
            #expect(try await bench.change("on", id: id, seen: .integer(lost)).value.code == "stale_view")
            await watch.channel.close()
            let away = try await stream.event("daemon").number
            _ = try await stream.event("daemon")
            let other = "3fa2c1d0-0000-4000-8000-000000000002"
            #expect(try await bench.change("on", id: other, seen: .integer(away)).value.code == "stale_view")
            #expect(bench.daemon.count("command") == 0)
            await stream.channel.close()
        }
    }

    @Test(
        "An invalid body is refused, and nothing is sent",
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
