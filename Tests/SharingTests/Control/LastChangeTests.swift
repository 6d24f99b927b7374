import DeviceKit
import DeviceTestKit
import Glibc
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Changes of a shared device, and who made them", .timeLimit(.minutes(5)))
struct LastChangeTests {
    private static let own = "pid \(getpid()) of user \(getuid())"

    private static func state(_ client: ControlClient) async throws -> JSONValue {
        try await client.ask("state", ["device": "pump"])
    }

    private static func command(_ client: ControlClient, _ name: String, by: String? = nil) async throws -> JSONValue {
        let members: [String: JSONValue?] = ["device": "pump", "name": .text(name), "by": by.map(JSONValue.text)]
        return try await client.ask("command", members.compactMapValues(\.self))
    }

    @Test(
        "The sender that a request names is in the command event, the log and last_change, with the program behind it")
    func by() async throws {
        try await ControlRig.run { rig in
            let (watcher, client) = (try await rig.client(), try await rig.client())
            _ = try await watcher.ask("subscribe", ["events": .array(["command"])])
            #expect(try await Self.command(client, "on", by: "page session 3fa2")["ok"] == true)
            let name = "page session 3fa2 (\(Self.own))"
            #expect(try await watcher.message()["by"] == .text(name))
            #expect(rig.reports.state.contains(.sends(Array("ON".utf8), for: name)))
            let change = try await Self.state(client)["last_change"]
            #expect(change?["by"] == .text(name) && change?["command"] == "on" && change?["outcome"] == "done")
        }
    }

    @Test(
        "A sender must be 1 to 100 printable characters",
        arguments: [
            "\"\"", "\"\(String(repeating: "a", count: 101))\"", #""a\u001b[2J""#, #""a\nb""#, #""\u202e""#, "7",
        ])
    func invalid(by: String) async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            for request in [#""do":"command","name":"off""#, #""do":"send","line":"OFF""#] {
                let response = try await client.answer(to: #"{"id":1,\#(request),"device":"pump","by":\#(by)}"#)
                #expect(response["error"]?["code"] == "usage")
            }
            #expect(rig.sentLines == [])
        }
    }

    @Test("Queries and refused commands are no changes, and a stop is one")
    func kinds() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            for line in ["STATUS", "SPEED:7", "nonsense"] {
                _ = try await client.ask("send", ["device": "pump", "line": .text(line)])
                #expect(try await Self.state(client)["last_change"] == .null)
            }
            _ = try await Self.command(client, "off")
            let change = try await Self.state(client)["last_change"]
            #expect(change?["command"] == "off" && change?["by"] == .text(Self.own))
        }
    }

    @Test("A press of the button is a change by hand, and is forgotten with the link")
    func byHand() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            _ = try await client.ask("subscribe", ["events": .array(["state"])])
            #expect(try await client.message()["last_change"] == .null)
            await rig.pressButton()
            let event = try await client.message()
            #expect(event["last_change"]?["by"] == "by hand" && event["last_change"]?["command"] == "on")
            #expect(event["last_change"]?["time"]?.string.hasSuffix("Z") == true)
            await rig.unplug()
            #expect(try await client.message()["last_change"] == .null)
        }
    }

    @Test("The state after a change comes with the change that caused it")
    func together() async throws {
        try await ControlRig.run { rig in
            let watcher = try await rig.client()
            _ = try await watcher.ask("subscribe", ["events": .array(["state"])])
            _ = try await watcher.message()
            _ = try await Self.command(try await rig.client(), "on", by: "x")
            let event = try await watcher.message()
            #expect(event["values"]?["state"] == "on" && event["last_change"]?["command"] == "on")
        }
    }

    @Test("A line to a peer is named by the command with that word, and is a text only if there is none")
    func peer() async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(family: .peer, link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            for (line, name) in [("ON", "toggle"), ("OFF", "toggle"), ("ONE", "say")] {
                _ = try await client.ask("send", ["device": "pump", "line": .text(line)])
                #expect(await link.nextSent() == line + "\n")
                #expect(try await Self.state(client)["last_change"]?["command"] == .text(name))
            }
        }
    }

    @Test("A command without an answer is the last change, unless a press of the button came after it")
    func unknownOutcome() async throws {
        for press in [false, true] {
            let link = ScriptedLink()
            let rig = try ControlRig(link: link)
            try await rig.run {
                try await rig.untilUp()
                let client = try await rig.client()
                try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "on"]))
                #expect(await link.nextSent() == "\nON\n")
                if press { await link.deliver("MANUAL:OFF\r\n") }
                await settle()
                // The time limit of a command.
                rig.clock.advance(by: .seconds(3))
                #expect(try await client.message()["error"]?["outcome"] == "unknown")
                let change = try await Self.state(client)["last_change"]
                #expect(change?["command"] == .text(press ? "off" : "on"))
                #expect(change?["outcome"] == .text(press ? "done" : "unknown"))
            }
        }
    }

    @Test("A command whose link is lost before the answer stays the last change", arguments: ["on", "off"])
    func lost(name: String) async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            let watcher = try await rig.client()
            _ = try await watcher.ask("subscribe", ["events": .array(["link"])])
            try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": .text(name)]))
            _ = await link.nextSent()
            await link.end(with: LinkError(.disconnected, name: "the pump", activity: "receive"))
            #expect(try await client.message()["error"]?["outcome"] == "unknown")
            #expect(try await watcher.message()["link"] == "lost")
            let change = try await Self.state(client)["last_change"]
            #expect(change?["command"] == .text(name) && change?["outcome"] == "unknown")
        }
    }

    @Test("A press of the button that arrives together with a reply is the later change")
    func order() async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "on"]))
            #expect(await link.nextSent() == "\nON\n")
            await link.deliver("OK\r\nPUMP:ON\r\nMANUAL:OFF\r\n")
            #expect(try await client.message()["ok"] == true)
            #expect(try await Self.state(client)["last_change"]?["by"] == "by hand")
        }
    }
}

@Suite("Times of a shared device's state", .timeLimit(.minutes(5)))
struct StateTimesTests {
    @Test("A report that may have waited while the process was stopped has no age")
    func lateReports() {
        let clock = ManualClock()
        var watch = DeviceWatch(by: clock)
        func report(after time: Duration, isLate: Bool) -> Duration {
            clock.advance(by: time)
            watch.noteReport(isLate: isLate)
            return watch.elapsed()
        }
        let before = report(after: .seconds(1), isLate: false)
        let late = report(after: .seconds(10), isLate: true)
        let second = report(after: .milliseconds(50), isLate: true)
        let between = report(after: .seconds(1), isLate: false)
        let again = report(after: .seconds(1), isLate: true)
        #expect(watch.lastTold == again)
        for time in [late - .milliseconds(1), late, second, again] { #expect(watch.isReadLate(time), "\(time)") }
        for time in [before, between, between + .milliseconds(1)] { #expect(!watch.isReadLate(time), "\(time)") }
    }

    @Test("Each value has its own age, which is null for an unknown value")
    func ages() async throws {
        let link = ScriptedLink { $0 == "TEMP\n" ? "TEMP:34.0\r\n" : nil }
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            await link.deliver("STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.0C}\r\n")
            rig.clock.advance(by: .seconds(2))
            await link.deliver("MANUAL:ON\r\n")
            await settle()
            rig.clock.advance(by: .seconds(1))
            let state = try await client.ask("state", ["device": "pump"])
            let ages = try #require(state["ages_s"]?.dictionary)
            #expect(state["age_s"]?.number == 1)
            #expect(ages["state"]?.number == 1 && ages["skin_temp_c"]?.number == 3)
            #expect(ages["speed_percent"] == .null && state["values"]?["speed_percent"] == .null)
            #expect(Set(ages.keys) == Set(Family.pump.state.map(\.key)))
        }
    }

    @Test("last_heard is null until anything arrives, counts noise, and is kept while the device is away")
    func lastHeard() async throws {
        let link = ScriptedLink()
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            #expect(try await client.ask("state", ["device": "pump"])["last_heard"] == .null)
            await link.deliver("#")
            let heard = try await client.ask("state", ["device": "pump"])["last_heard"]
            #expect(heard?.string.hasSuffix("Z") == true)
            await link.end(with: LinkError(.disconnected, name: "the pump", activity: "receive"))
            await settle()
            #expect(try await client.ask("devices")["devices"]?.options.first?["last_heard"] == heard)
        }
    }
}
