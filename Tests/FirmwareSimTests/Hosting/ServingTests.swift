import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import TestSupport
import Testing

@Suite("Serving a pump", .timeLimit(.minutes(5)))
struct ServingTests {
    private let folder = TemporaryFolder()

    @Test("A served pump answers each command", arguments: ServedBy.allCases)
    func answers(by way: ServedBy) async throws {
        let server = try await way.serve(pumpHost())
        let client = try await server.client()
        for (command, reply) in [
            ("ON\n", printed("OK", "PUMP:ON")),
            ("SPEED:180\n", printed("OK", "SPEED:180")),
            ("TEMP\n", printed("TEMP:{Water:12.0C,Skin:34.0C}")),
            (
                "STATUS\n",
                printed("STATUS:{State:ON,Speed:70%,Runtime:0m,Remaining:29m,WaterTemp:12.0C,SkinTemp:34.0C}")
            ),
            ("WHAT\n", printed("ERROR:UNKNOWN_COMMAND")),
            ("OFF\n", printed("OK", "PUMP:OFF")),
        ] {
            try client.say(command)
            #expect(try await client.hear(until: reply) == reply)
        }
        await server.close()
    }

    @Test("A served pump shuts off after 30 simulated minutes", arguments: ServedBy.allCases)
    func safetyShutOff(by way: ServedBy) async throws {
        let host = pumpHost()
        let server = try await way.serve(host)
        let client = try await server.client()
        try client.say("ON\n")
        _ = try await client.hear(until: printed("PUMP:ON"))
        await host.advance(by: .seconds(29 * 60 - 10))
        let before = try await client.hear(until: "Remaining:1m,WaterTemp:12.0C,SkinTemp:34.0C}\r\n")
        #expect(!before.contains("ERROR"))
        await host.advance(by: .seconds(71))
        let after = try await client.hear(until: printed("Maximum runtime exceeded"))
        #expect(after.hasSuffix(printed("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")))
        await server.close()
    }

    @Test("A served pump stays on for a client that leaves and returns", arguments: ServedBy.allCases)
    func survivesItsClients(by way: ServedBy) async throws {
        let server = try await way.serve(pumpHost())
        do {
            let client = try await server.client()
            try client.say("ON\n")
            _ = try await client.hear(until: printed("PUMP:ON"))
        }
        await settle()
        for _ in 0..<5 {
            let client = try await server.client()
            try client.say("STATUS\n")
            #expect(try await client.hear(until: "}\r\n").hasPrefix("STATUS:{State:ON,"))
        }
        await server.close()
    }

    @Test("Output without a client is not sent to the next one", arguments: ServedBy.allCases)
    func saysNothingToNobody(by way: ServedBy) async throws {
        let host = pumpHost()
        let server = try await way.serve(host)
        do {
            let client = try await server.client()
            try client.say("ON\n")
            _ = try await client.hear(until: printed("PUMP:ON"))
        }
        await settle()
        await host.advance(by: .seconds(60))
        await settle()
        let client = try await server.client()
        try client.say("TEMP\n")
        #expect(try await client.hear(until: "}\r\n") == printed("TEMP:{Water:12.0C,Skin:34.0C}"))
        await server.close()
    }

    @Test("Unread output of a client is not sent to the next one", arguments: ServedBy.allCases)
    func forgetsWhatWasUnread(by way: ServedBy) async throws {
        let host = pumpHost()
        let server = try await way.serve(host)
        do {
            let client = try await server.client()
            try client.say("ON\n")
            _ = try await client.hear(until: printed("PUMP:ON"))
            // The pump reports more than a terminal buffers, so the host waits to write the rest.
            await host.advance(by: .seconds(29 * 60))
            await settle()
        }
        await settle()
        let client = try await server.client()
        try client.say("OFF\n")
        let reply = printed("OK", "PUMP:OFF")
        #expect(try await client.hear(until: reply) == reply)
        // The line still works.
        try client.say("OFF\n")
        #expect(try await client.hear(until: reply) == reply)
        await server.close()
    }

    @Test("A broadcasting line sends output to every client", arguments: [ServedBy.tcp, .unixSocket])
    func severalClients(by way: ServedBy) async throws {
        let host = pumpHost()
        let server = try await way.serve(host, broadcasts: true)
        let first = try await server.client()
        var second: HostClient? = try await server.client()
        let reply = printed("OK", "PUMP:ON")
        try first.say("ON\n")
        #expect(try await first.hear(until: reply) == reply)
        #expect(try await second?.hear(until: reply) == reply)
        await host.change { pump, now in pump.pressButton(at: now) }
        await host.advance(by: .seconds(1))
        #expect(try await first.hear(until: "\r\n") == printed("MANUAL:OFF"))
        #expect(try await second?.hear(until: "\r\n") == printed("MANUAL:OFF"))
        second = nil
        await settle()
        try first.say("ON\n")
        #expect(try await first.hear(until: reply) == reply)
        await server.close()
    }

    @Test("A second client is disconnected without output and reported", arguments: [ServedBy.tcp, .unixSocket])
    func oneClient(by way: ServedBy) async throws {
        let refusals = Watched(0)
        let server = try await way.serve(pumpHost()) { refusals.update { $0 += 1 } }
        let first = try await server.client()
        let reply = printed("OK", "PUMP:ON")
        for count in 1...3 {
            let second = try await server.newClient()
            #expect(try await second.waitForHangUp() == "")
            try await refusals.wait(for: "a refusal") { $0 == count ? () : nil }
            try first.say("ON\n")
            #expect(try await first.hear(until: reply) == reply)
        }
        await server.close()
    }

    @Test("The next client is accepted as soon as the last one has left")
    func nextClient() async throws {
        let refusals = Watched(0)
        let path = folder.path("pump.sock")
        let server = try await SocketServer.open(pumpHost(), at: .unix(path: path)) { refusals.update { $0 += 1 } }
        let reply = printed("OK", "PUMP:OFF")
        var last = try HostClient(atOnce: path)
        for _ in 0..<50 {
            try last.say("OFF\n")
            #expect(try await last.hear(until: reply) == reply)
            let leaving = last
            // While the loop is busy here, both the departure of the last client and the arrival of the next become
            // pending. The server finds the departure only after reading all input of the last client, here empty
            // lines.
            last = try await Task(executorPreference: EventLoop.shared) {
                try leaving.say(String(repeating: "\n", count: 100_000))
                leaving.leave()
                return try HostClient(atOnce: path)
            }.value
        }
        #expect(refusals.state == 0)
        await server.close()
    }

    @Test("Closing the server disconnects its clients and may be repeated", arguments: ServedBy.allCases)
    func closing(by way: ServedBy) async throws {
        let server = try await way.serve(pumpHost())
        let client = try await server.client()
        await server.close()
        try await client.waitForHangUp()
        await server.close()
        await #expect(throws: (any Error).self) { try await server.newClient() }
    }

    @Test("A terminal has a symlink at the given path until it is closed")
    func link() async throws {
        let path = folder.path("pump")
        let server = try await PseudoTerminalServer.open(pumpHost(), link: path)
        #expect(server.path == path)
        let client = try HostClient(terminal: path)
        await settle()
        try client.say("OFF\n")
        #expect(try await client.hear(until: "PUMP:OFF\r\n") == printed("OK", "PUMP:OFF"))
        await server.close()
        var status = stat()
        #expect(lstat(path, &status) != 0)
        try await client.waitForHangUp()
    }

    @Test("If one of two clients of a terminal leaves, the other still gets output")
    func twoOnOneTerminal() async throws {
        let host = pumpHost()
        let server = try await PseudoTerminalServer.open(host)
        let staying = try HostClient(terminal: server.path)
        await settle()
        do {
            let leaving = try HostClient(terminal: server.path)
            await settle()
            try leaving.say("ON\n")
            _ = try await leaving.hear(until: printed("PUMP:ON"))
        }
        await settle()
        await host.advance(by: .seconds(6))
        #expect(try await staying.hear(until: "}\r\n").hasPrefix("STATUS:{State:ON,"))
        await server.close()
    }

    @Test("If one of two clients that came together leaves, the other still gets output")
    func twoAtOnce() async throws {
        let host = pumpHost()
        let server = try await PseudoTerminalServer.open(host)
        // While the loop is busy here, inotify merges both openings into one event.
        let both = try await Task(executorPreference: EventLoop.shared) {
            (staying: try HostClient(terminal: server.path), leaving: try HostClient(terminal: server.path))
        }.value
        // A reply proves that the client was noticed; the openings were read together with the command at the latest.
        try both.staying.say("TEMP\n")
        let reply = printed("TEMP:{Water:12.0C,Skin:34.0C}")
        #expect(try await both.staying.hear(until: reply) == reply)
        both.leaving.leave()
        await settle()
        await host.change { pump, now in pump.pressButton(at: now) }
        await host.advance(by: .seconds(1))
        // The server must not take the merged opening for that of one client, which has left.
        #expect(try await both.staying.hear(until: "\r\n") == printed("MANUAL:ON"))
        await server.close()
    }
}
