import DeviceKit
import DeviceTestKit
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Stored messages for programs", .timeLimit(.minutes(5)))
struct StoredMessageTests {
    private static func message(_ content: String, _ category: RescueCategory = .other) throws -> RescueMessage {
        RescueMessage(
            id: .random(), content: content, position: try #require(RescuePosition(latitude: -35.5, longitude: 79)),
            time: .beginning, category: category)
    }

    /// Calls `body` with a program at a daemon that shares a phone, and whose record has these messages.
    private static func run(
        keeping messages: [RescueMessage], _ body: (ControlClient) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let recorder = HistoryTests.recorder(in: folder)
        _ = try await RecordedMessages.open(by: recorder).insertNew(messages)
        let rig = try ControlRig(family: .rescue, link: ScriptedLink(), recorder: recorder)
        try await rig.run { try await body(try await rig.client()) }
    }

    @Test("A program gets the newest messages, the last to arrive first")
    func newest() async throws {
        let messages = [
            try Self.message("one"), try Self.message("a \u{202e}\u{1b}[2J\nb", .sos), try Self.message("three"),
        ]
        try await Self.run(keeping: messages) { client in
            let all = try await client.ask("messages")
            #expect(all["complete"] == true)
            #expect(all["messages"]?.elements?.map { $0["id"]?.string } == messages.reversed().map { "\($0.id)" })
            let few = try await client.ask("messages", ["limit": 2])
            #expect(few["complete"] == false)
            let sos = try #require(few["messages"]?.elements?.last)
            #expect(sos["content"]?.string == "a \u{202e}\u{1b}[2J\nb")
            #expect(sos["latitude"]?.number == -35.5 && sos["longitude"]?.number == 79)
            #expect(sos["time"] == "2001-01-01T00:00:00.000Z")
            #expect(sos["status"] == "pending_sync" && sos["category"] == "SOS")
        }
    }

    @Test("A response has little more than 1 MiB of messages")
    func size() async throws {
        let text = String(repeating: "x", count: 16_000)
        try await Self.run(keeping: try (0..<100).map { _ in try Self.message(text) }) { client in
            let response = try await client.ask("messages", ["limit": 1000])
            #expect(response["complete"] == false)
            // 1 MiB has room for 65 texts of 16,000 bytes.
            #expect((60..<70).contains(response["messages"]?.elements?.count ?? 0))
        }
    }

    @Test("Before the first message the list is empty; without a phone the request is refused")
    func none() async throws {
        try await Self.run(keeping: []) { client in
            let response = try await client.ask("messages")
            #expect(response["messages"] == .array([]) && response["complete"] == true)
        }
        let folder = TemporaryFolder()
        let rig = try ControlRig(recorder: HistoryTests.program("exit 1", in: folder))
        try await rig.run {
            let error = try await rig.client().refusal("messages")
            #expect(error["code"] == "no_such_device" && error["outcome"] == "not_sent")
        }
    }

    @Test(
        "A record that can't be read has a code for each reason",
        arguments: [("locked", "record_locked"), ("damaged", "record_damaged"), ("system", "record_failed")])
    func failures(reason: String, code: String) async throws {
        let folder = TemporaryFolder()
        let recorder = HistoryTests.program(#"printf 'failing\t"\#(reason)"\t"no"\t"wait"\n'; exit 1"#, in: folder)
        let rig = try ControlRig(family: .rescue, link: ScriptedLink(), recorder: recorder)
        try await rig.run {
            let error = try await rig.client().refusal("messages")
            #expect(error["code"] == .text(code) && error["message"] == "no" && error["hint"] == "wait")
        }
    }

    @Test("An invalid request is refused", arguments: [0, 1001])
    func invalid(limit: Int) async throws {
        let folder = TemporaryFolder()
        let recorder = HistoryTests.program("exit 1", in: folder)
        let rig = try ControlRig(family: .rescue, link: ScriptedLink(), recorder: recorder)
        try await rig.run {
            let line = #"{"id":1,"do":"messages","limit":\#(limit)}"#
            let client = try await rig.client()
            #expect(try await client.answer(to: line)["error"]?["message"] == "'limit' must be 1 to 1000")
        }
    }
}
