import DescriptorIO
import RecordFormat
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Stream of events", .timeLimit(.minutes(5)))
struct EventStreamTests {
    /// An event with the member `new`, which the server does not know, in a spelling that another writer of JSON would
    /// change.
    private let state = #"{"device":"pump","event":"state","link":"up","new":[1.0],"values":{"state":"ON"}}"#

    @Test("A stream begins with a snapshot, and passes the daemon's events on byte for byte")
    func events() async throws {
        try await PageBench.run { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            #expect(try await stream.event("snapshot").data["daemon"]?.text == "up")
            let watch = try await bench.daemon.next("subscribe")
            try await watch.channel.write(Array("\(state)\n".utf8))
            var event = try await stream.event("state")
            // The first event may be the one that the daemon sends right after the subscription.
            if event.data["values"] == nil { event = try await stream.event("state") }
            #expect(event.data.json == state)
            // The snapshot of another stream has the same state.
            let other = try await bench.client()
            try await other.send("GET", "/api/v1/events", token: bench.token)
            let snapshot = try await other.event("snapshot")
            #expect(snapshot.number >= event.number)
            #expect(snapshot.data["devices"]?.elements?.first?["state"]?.json == state)
            // A third stream continues after the event.
            try await watch.channel.write(Array("{\"event\":\"link\",\"device\":\"pump\",\"link\":\"lost\"}\n".utf8))
            let lost = try await other.event("link")
            let third = try await bench.client()
            try await third.send(
                "GET", "/api/v1/events", token: bench.token, "Last-Event-ID: \(event.number)\r\n")
            #expect(try await third.event("link").number == lost.number)
            for client in [stream, other, third] { await client.channel.close() }
        }
    }

    @Test("The ages in a snapshot count from the report of the device")
    func ages() async throws {
        try await PageBench.run { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            let watch = try await bench.daemon.next("subscribe")
            let old = #"{"event":"state","device":"pump","age_s":1000,"ages_s":{"state":2000.5,"error":null}}"#
            try await watch.channel.write(Array("\(old)\n".utf8))
            while try await stream.event("state").data["age_s"] == nil {}
            // The server's clock is the real one, so some time must pass until the ages have grown.
            let start = ContinuousClock.now
            while ContinuousClock.now < start + .milliseconds(2) { await Task.yield() }
            let other = try await bench.client()
            try await other.send("GET", "/api/v1/events", token: bench.token)
            let state = try await other.event("snapshot").data["devices"]?.elements?.first?["state"]
            #expect(state?["age_s"]?.number ?? 0 > 1000)
            #expect(state?["ages_s"]?["state"]?.number ?? 0 > 2000.5)
            #expect(state?["ages_s"]?["error"]?.isNull == true)
            for client in [stream, other] { await client.channel.close() }
        }
    }

    @Test("A reader with an unknown number gets a resync event", arguments: ["1", "99999999999999999", "-1", "x", ""])
    func resync(number: String) async throws {
        try await PageBench.run { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token, "Last-Event-ID: \(number)\r\n")
            _ = try await stream.event("resync")
            await stream.channel.close()
        }
    }

    @Test("When the daemon ends, streams report it as away, and snapshots have no devices")
    func daemonEnds() async throws {
        try await PageBench.run { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            let watch = try await bench.daemon.next("subscribe")
            try await watch.channel.write(Array("\(state)\n".utf8))
            _ = try await stream.event("state")
            await bench.daemon.close()
            #expect(try await stream.event("daemon").data["daemon"]?.text == "away")
            let other = try await bench.client()
            try await other.send("GET", "/api/v1/events", token: bench.token)
            let snapshot = try await other.event("snapshot").data
            #expect(snapshot["daemon"]?.text == "away")
            #expect(snapshot["devices"]?.elements?.count == 0)
            for client in [stream, other] { await client.channel.close() }
        }
    }

    @Test("After the end of its daemon, the server uses no other daemon, whose devices may have the same names")
    func otherDaemon() async throws {
        let folder = TemporaryFolder()
        let other = try await ScriptedDaemon(in: folder, hello: ScriptedDaemon.hello)
        var limits = PageSettings.Limits()
        limits.stop = 0
        try await PageBench.run(limits: limits, otherDaemons: [other.path]) { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            _ = try await bench.daemon.next("subscribe")
            await bench.daemon.close()
            _ = try await stream.event("daemon")
            let stop = try await bench.ask("POST", "/api/v1/devices/pump/stop")
            #expect(stop.json["outcome"]?.text == "not_sent", "\(stop)")
            #expect(other.count("send") == 0 && other.count("stop") == 0 && other.count("subscribe") == 0)
            await stream.channel.close()
        }
        await other.close()
    }

    @Test("A stream ends when its session is revoked")
    func revoked() async throws {
        try await PageBench.run { bench in
            let stream = try await bench.client()
            try await stream.send("GET", "/api/v1/events", token: bench.token)
            _ = try await stream.event("snapshot")
            var file = SessionFile(path: bench.folder.path("sessions"))
            #expect(try file.revoke("all", at: .now) == 1)
            _ = try await stream.received.all("the stream")
        }
    }

    @Test("One subscription serves all streams, and asks for polling")
    func oneSubscription() async throws {
        try await PageBench.run { bench in
            var streams: [PageClient] = []
            for _ in 0..<20 {
                let stream = try await bench.client()
                try await stream.send("GET", "/api/v1/events", token: bench.token)
                _ = try await stream.event("snapshot")
                streams.append(stream)
            }
            let first = try await bench.daemon.next("subscribe")
            #expect(first.request["poll"]?.boolean == true)
            try await bench.untilTaken()
            #expect(bench.daemon.count("subscribe") == 0)
            for stream in streams { await stream.channel.close() }
        }
    }
}
