import DescriptorIO
import DeviceTestKit
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

/// A view is the state of the devices that a client has been shown, numbered by the last event in it: see
/// ``CommandTests``.
@Suite("Stops by HTTP", .timeLimit(.minutes(5)))
struct StopTests {
    private let id = "3fa2c1d0-0000-4000-8000-000000000001"

    @Test("Four stops of a device are sent at once; all later requests share one more")
    func stops() async throws {
        try await PageBench.run { bench in
            _ = try await bench.seen()
            let watched = try await bench.daemon.next("subscribe").channel
            var (clients, heard): ([PageClient], [ScriptedDaemon.Heard]) = ([], [])
            for number in 1...StopQueue.limit + 3 {
                let client = try await bench.client()
                _ = try await client.ask("GET", "/api/v1/session", token: bench.token)
                try await client.send("POST", "/api/v1/devices/pump/stop", token: bench.token)
                clients.append(client)
                if number <= StopQueue.limit { heard.append(try await bench.daemon.next("stop")) }
            }
            #expect(heard.allSatisfy { $0.channel === watched })
            try await bench.untilTaken()
            #expect(bench.daemon.count("stop") == 0)
            for stop in heard { try await stop.answer(["reply": .array(["OK"])]) }
            try await bench.daemon.next("stop").answer(["reply": .array(["PUMP:OFF"])])
            for (number, client) in clients.enumerated() {
                let reply = try await client.response().json["reply"]?.elements?.first?.text
                #expect(reply == (number < StopQueue.limit ? "OK" : "PUMP:OFF"))
                await client.channel.close()
            }
            #expect(bench.daemon.count("stop") == 0)
        }
    }

    @Test(
        "A stop is also sent on the connection of an earlier change, which the daemon reads in order"
    )
    func stopBehindChange() async throws {
        try await PageBench.run { bench in
            let change = bench.change("on", id: id, seen: try await bench.seen())
            let heard = try await bench.daemon.next("command")
            let stop = bench.stop()
            let both = [try await bench.daemon.next("stop"), try await bench.daemon.next("stop")]
            #expect(both.contains { $0.channel === heard.channel })
            for stop in both { try await stop.answer(["reply": .array(["OK", "PUMP:OFF"])]) }
            #expect(try await stop.value.status == 200)
            try await heard.answer([
                "ok": false, "error": object(["code": "overtaken", "message": "m", "outcome": "not_sent"]),
            ])
            #expect(try await change.value.code == "overtaken")
        }
    }

    @Test("A change whose connection waits for the daemon's greeting is not sent after a stop was requested")
    func stopBeforeGreeting() async throws {
        try await PageBench.run { bench in
            let seen = try await bench.seen()
            bench.daemon.holdGreetings()
            let change = bench.change("on", id: id, seen: seen)
            try await bench.daemon.untilHeld()
            let stop = bench.stop()
            try await bench.daemon.next("stop").answer(["reply": .array(["OK", "PUMP:OFF"])])
            #expect(try await stop.value.status == 200)
            try await bench.daemon.greet()
            let response = try await change.value
            #expect(response.code == "overtaken")
            #expect(response.outcome == "not_sent")
            #expect(bench.daemon.count("command") == 0)
        }
    }

    @Test("During a stop every change is refused, and after it every change by an older view")
    func changeDuringStop() async throws {
        try await PageBench.run { bench in
            let seen = try await bench.seen()
            let stop = bench.stop()
            let heard = try await bench.daemon.next("stop")
            let during = try await bench.seen()
            #expect(try await bench.change("on", id: id, seen: during).value.code == "overtaken")
            try await heard.answer(["reply": .array(["OK", "PUMP:OFF"])])
            #expect(try await stop.value.status == 200)
            let second = "3fa2c1d0-0000-4000-8000-000000000002"
            #expect(try await bench.change("on", id: second, seen: seen).value.code == "overtaken")
            #expect(bench.daemon.count("command") == 0)
            // The view from during the stop is newer than the stop.
            let third = bench.change("on", id: "3fa2c1d0-0000-4000-8000-000000000003", seen: during)
            try await bench.daemon.next("command").answer(["reply": .array([])])
            #expect(try await third.value.status == 200)
        }
    }

    @Test(
        "The family's stop command by its name is a stop: it is sent without an ID and by any view",
        arguments: [
            #"{"name":"off"}"#, #"{"name":"off","id":"x"}"#, #"{"name":"off","id":"x","seen":0}"#,
            #"{"name":"off","parameters":1}"#,
        ])
    func stopByName(body: String) async throws {
        try await PageBench.run { bench in
            let body = try JSONValue(parsing: body)
            let off = Task { try await bench.ask("POST", "/api/v1/devices/pump/commands", body) }
            try await bench.daemon.next("stop").answer(["reply": .array(["OK", "PUMP:OFF"])])
            #expect(try await off.value.status == 200)
        }
    }

    @Test("A stop during a restart of the daemon is sent again until the device is there")
    func stopDuringRestart() async throws {
        var limits = PageSettings.Limits()
        limits.stop = Int(patience / .milliseconds(1))
        try await PageBench.run(limits: limits) { bench in
            let stop = bench.stop()
            await (try await bench.daemon.next("stop")).channel.close()
            try await bench.daemon.next("stop").answer([
                "ok": false, "error": object(["code": "device_away", "message": "m", "outcome": "not_sent"]),
            ])
            try await bench.daemon.next("stop").answer(["reply": .array(["OK", "PUMP:OFF"])])
            #expect(try await stop.value.status == 200)
        }
    }

    @Test("The server does not end before a pending stop is answered, even if its client has left")
    func stopAtTheEnd() async throws {
        var heard: ScriptedDaemon.Heard?
        try await PageBench.run { bench in
            let client = try await bench.client()
            try await client.send("POST", "/api/v1/devices/pump/stop", token: bench.token)
            heard = try await bench.daemon.next("stop")
            await client.channel.close()
            bench.end()
            await settle()
            #expect(!bench.hasEnded)
            try await heard?.answer()
        }
    }

    @Test("A stop needs no body, and the limit of commands does not apply to it")
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
            let stop = bench.stop()
            for _ in 0..<2 {
                try await bench.daemon.next("stop").answer(["reply": .array(["OK", "PUMP:OFF"])])
            }
            #expect(try await stop.value.status == 200)
            try await heard.answer(["reply": .array([])])
            #expect(try await change.value.status == 200)
        }
    }
}

@Suite("The log of stops")
struct StopLogTests {
    @Test("A change by a view from before a stop of its device is overtaken")
    func overtaken() {
        var log = StopLog()
        log.add("pump", after: 10)
        log.add("other", after: 20)
        #expect(log.hasStop(of: "pump", since: 10))
        #expect(!log.hasStop(of: "pump", since: 11))
        #expect(log.hasStop(of: "other", since: 20))
        #expect(!log.hasStop(of: "third", since: 1))
        log.add("pump", after: 20)
        #expect(log.hasStop(of: "pump", since: 20))
        #expect(!log.hasStop(of: "pump", since: 21))
    }

    @Test("A view from before the kept stops counts as overtaken")
    func many() {
        var log = StopLog()
        // The log keeps 256 stops.
        for number in 1...256 { log.add("other", after: number) }
        #expect(!log.hasStop(of: "pump", since: 1))
        log.add("other", after: 257)
        #expect(log.hasStop(of: "pump", since: 1))
        #expect(!log.hasStop(of: "pump", since: 2))
    }
}
