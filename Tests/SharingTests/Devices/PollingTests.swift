import DescriptorIO
import DeviceTestKit
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Polling a shared device", .timeLimit(.minutes(5)))
struct PollingTests {
    private static let status = "STATUS:{State:ON,Speed:70%,SkinTemp:34.0C,RunTime:1m,Remaining:29m}\r\n"

    /// A program that polls, or does not.
    private final class Program: Sendable {
        let events = Watched<[String]>([])

        func subscribe(
            to device: SharedDevice, _ kinds: Set<DeviceWatch.Kind> = [.state, .command], polls: Bool = true
        )
            async
        {
            await device.subscribe(ObjectIdentifier(self), .init(kinds: kinds, polls: polls)) { [events] line in
                events.update { $0.append(String(decoding: line, as: UTF8.self)) }
            }
        }

        func leave(_ device: SharedDevice) async { await subscribe(to: device, [], polls: false) }
    }

    /// Calls `body` with a device whose link is up.
    private static func run(
        _ link: ScriptedLink, _ body: (ControlRig) async throws -> Void
    ) async throws {
        let rig = try ControlRig(link: link)
        try await rig.run {
            try await rig.untilUp()
            try await body(rig)
        }
    }

    /// Advances the clock until the next question is due.
    private static func pass(_ rig: ControlRig) async {
        await rig.clock.untilSomebodySleeps(until: rig.clock.now.offset + SharedDevice.pollInterval)
        rig.clock.advance(by: SharedDevice.pollInterval)
        await settle()
    }

    @Test("A hundred programs that poll cause as many queries as one", arguments: [1, 100])
    func questions(count: Int) async throws {
        try await Self.run(ScriptedLink { $0 == "STATUS\n" ? Self.status : nil }) { rig in
            let programs = (0..<count).map { _ in Program() }
            for program in programs { await program.subscribe(to: rig.device) }
            await settle()
            #expect(rig.sentLines == ["STATUS"])
            for _ in 0..<3 { await Self.pass(rig) }
            #expect(rig.sentLines == ["STATUS", "STATUS", "STATUS", "STATUS"])

            for program in programs.dropFirst() { await program.leave(rig.device) }
            await Self.pass(rig)
            #expect(rig.sentLines.count == 5)
            await programs[0].leave(rig.device)
            await Self.pass(rig)
            #expect(rig.sentLines.count == 5)
            #expect(rig.clock.deadlines == [])
        }
    }

    @Test("A program that returns within the interval does not cause an earlier query")
    func returning() async throws {
        try await Self.run(ScriptedLink { $0 == "STATUS\n" ? Self.status : nil }) { rig in
            let program = Program()
            await program.subscribe(to: rig.device)
            await settle()
            for _ in 0..<3 {
                await program.leave(rig.device)
                await program.subscribe(to: rig.device)
                await settle()
            }
            #expect(rig.sentLines == ["STATUS"])
            await Self.pass(rig)
            #expect(rig.sentLines == ["STATUS", "STATUS"])
        }
    }

    @Test(
        "Programs that poll get the state after each answer, others only when it changes; nobody gets a command event")
    func events() async throws {
        try await Self.run(ScriptedLink { $0 == "STATUS\n" ? Self.status : nil }) { rig in
            let (poller, listener) = (Program(), Program())
            await listener.subscribe(to: rig.device, polls: false)
            await settle()
            #expect(rig.sentLines == [])
            await poller.subscribe(to: rig.device)
            await settle()
            for _ in 0..<2 { await Self.pass(rig) }
            let states = try poller.events.state.map { try JSONValue(parsing: $0) }
            #expect(states.allSatisfy { $0["event"] == "state" && $0["age_s"]?.number ?? 0 == 0 })
            #expect(states.suffix(3).map { $0["values"]?["state"] } == ["on", "on", "on"])
            #expect(listener.events.state.count == 2)
        }
    }

    @Test(
        "A silent device gets one query at a time, and one failure is reported")
    func silence() async throws {
        // The session separates late answers from new ones by TEMP. It repeats an unanswered query once, after half of
        // the timeout of 3 s.
        let link = ScriptedLink { $0 == "TEMP\n" ? "TEMP:34.0\r\n" : nil }
        try await Self.run(link) { rig in
            let program = Program()
            await program.subscribe(to: rig.device)
            for _ in 0..<2 {
                await settle()
                #expect(rig.sentLines == ["STATUS"])
                rig.clock.advance(by: .milliseconds(1500))
            }
            await Self.pass(rig)
            #expect(rig.sentLines == ["STATUS", "STATUS"])
            for _ in 0..<8 {
                rig.clock.advance(by: .milliseconds(1500))
                await settle()
            }
            #expect(rig.sentLines == ["STATUS", "STATUS", "STATUS"])
            let failures = rig.reports.state.filter { if case .failed = $0 { true } else { false } }
            #expect(failures.count == 1)
        }
    }

    @Test("A polling query waits behind a client's line, and is not sent if the program leaves meanwhile")
    func order() async throws {
        let link = ScriptedLink()
        try await Self.run(link) { rig in
            let client = try await rig.client()
            try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "temp"]))
            #expect(await link.nextSent() == "TEMP\n")
            let program = Program()
            await program.subscribe(to: rig.device)
            await settle()
            #expect(link.unreadSent == [])
            await program.leave(rig.device)
            await link.deliver("TEMP:34.0\r\n")
            #expect(try await client.message()["ok"] == true)
            await settle()
            #expect(link.unreadSent == [])
        }
    }

    @Test("An absent device gets no query, and gets one as soon as it is back")
    func away() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            _ = try await client.ask("subscribe", ["events": .array([]), "poll": true])
            await settle()
            #expect(rig.sentLines == ["STATUS"])
            await rig.unplug()
            try await rig.untilAway()
            rig.clock.advance(by: .seconds(60))
            await settle()
            #expect(rig.sentLines == ["STATUS"])
            rig.plugIn()
            try await rig.untilUp()
            await settle()
            #expect(rig.sentLines == ["STATUS", "STATUS"])
        }
    }

    @Test("poll: false, unsubscribe from all events, and leaving end polling")
    func ending() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            for ending: (String, [String: JSONValue]) in [("subscribe", ["poll": false]), ("unsubscribe", [:])] {
                #expect(try await client.ask("subscribe", ["events": .array(["link"]), "poll": true])["ok"] == true)
                await settle()
                #expect(await rig.device.watch.polling != nil)
                #expect(
                    try await client.ask(ending.0, ending.1.merging(["events": .array(["link"])]) { $1 })["ok"] == true)
                await Self.pass(rig)
                #expect(await rig.device.watch.polling == nil)
            }
            _ = try await client.ask("subscribe", ["events": .array([]), "poll": true])
            await client.channel.close()
            await settle()
            await Self.pass(rig)
            #expect(await rig.device.watch.polling == nil)
            let other = try await rig.client()
            for (request, message) in [
                (#"{"id":1,"do":"unsubscribe","poll":true}"#, "'unsubscribe' takes no 'poll'"),
                (#"{"id":1,"do":"subscribe","poll":5}"#, "'poll' must be true or false"),
            ] {
                #expect(try await other.answer(to: request)["error"]?["message"] == .text(message))
            }
        }
    }
}
