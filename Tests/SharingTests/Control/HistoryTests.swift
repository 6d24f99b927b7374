import DeviceKit
import DeviceTestKit
import Glibc
import RecordFormat
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Recorded values for programs", .timeLimit(.minutes(5)))
struct HistoryTests {
    /// A script that stands for `pumpctl-record`.
    static func program(_ script: String, in folder: TemporaryFolder) -> CompanionProgram {
        let path = folder.write("#!/bin/sh\n\(script)\n", to: "pumpctl-record")
        chmod(path, 0o755)
        return CompanionProgram(path: path)
    }

    /// A recorder with a record of its own.
    static func recorder(in folder: TemporaryFolder) -> CompanionProgram {
        program("XDG_DATA_HOME='\(folder.path)' exec '\(Executable.pumpctlRecord)' \"$@\"", in: folder)
    }

    /// Records the skin temperatures, a second apart from each other.
    private static func record(_ temperatures: [Double], of endpoint: String, by program: CompanionProgram) async throws
    {
        let recording = try Recording(of: "pump", by: program) { _ in }
        await recording.listen()
        let session = recording.beginSession(named: endpoint, device: nil, at: RecordTime(milliseconds: 0))
        for (number, temperature) in temperatures.enumerated() {
            var reading = Reading()
            reading.add("state", "on")
            reading.add("skin_temp_c", temperature)
            recording.record(
                .reading(kind: "status", reading), at: RecordTime(milliseconds: Int64(number) * 1000), in: session)
        }
        // Only "command" is an event for programs; the others are lines of the link.
        for kind in ["sent", "received", "sent_hex", "command"] {
            recording.record(.event(kind: kind, text: "x"), at: RecordTime(milliseconds: 100), in: session)
        }
        await recording.end("closed")
    }

    @Test("A request with 'columns' gets the extremes of each column, and one without it gets the rows")
    func values() async throws {
        let folder = TemporaryFolder()
        let recorder = Self.recorder(in: folder)
        try await Self.record([34, 36, 33, 35, 34.5], of: "tcp:nowhere:1", by: recorder)
        try await Self.record([7], of: "tcp:nowhere:2", by: recorder)
        let rig = try ControlRig(recorder: recorder)
        try await rig.run {
            let client = try await rig.client()
            let series = try await client.ask("history", ["device": "pump", "columns": 1])["series"]?.elements ?? []
            let skin = try #require(series.first { $0["key"] == "skin_temp_c" })
            #expect(skin["points"]?.json == "[[1000,36.0],[2000,33.0]]" && skin["starts"] == .array([0]))

            let all = try await client.ask("history", ["device": "pump"])
            #expect(all["complete"] == true && all["events_complete"] == true)
            #expect(all["rows"]?.elements?.map { $0["skin_temp_c"]?.number } == [34, 36, 33, 35, 34.5])
            let few = try await client.ask(
                "history",
                ["device": "pump", "since": "1970-01-01T00:00:01Z", "until": "1970-01-01T00:00:03Z"])
            #expect(few["rows"]?.elements?.map { $0["time"]?.string.suffix(7) } == ["01.000Z", "02.000Z"])
            #expect(all["events"]?.elements?.map { $0["event"]?.string } == ["command"])
            #expect(few["events"] == .array([]))
        }
    }

    @Test("A device that has recorded nothing yet has no rows")
    func empty() async throws {
        let folder = TemporaryFolder()
        let rig = try ControlRig(recorder: Self.recorder(in: folder))
        try await rig.run {
            let response = try await rig.client().ask("history", ["device": "pump"])
            #expect(response["rows"] == .array([]) && response["complete"] == true)
        }
    }

    @Test("A device without record = true is refused")
    func notRecorded() async throws {
        try await ControlRig.run { rig in
            let error = try await rig.client().refusal("history", ["device": "pump"])
            #expect(error["code"] == "not_recorded" && error["outcome"] == "nothing_changed")
        }
    }

    @Test(
        "A record that can't be read has a code for each reason",
        arguments: [
            ("locked", "record_locked"), ("full", "disk_full"), ("damaged", "record_damaged"),
            ("system", "record_failed"),
        ])
    func failures(reason: String, code: String) async throws {
        let folder = TemporaryFolder()
        let recorder = Self.program(#"printf 'failing\t"\#(reason)"\t"no"\t"wait"\n'; exit 1"#, in: folder)
        let rig = try ControlRig(recorder: recorder)
        try await rig.run {
            for columns in [nil, 5] as [JSONValue?] {
                let request = ["device": "pump", "columns": columns].compactMapValues(\.self)
                let error = try await rig.client().refusal("history", request)
                #expect(error["code"] == .text(code) && error["message"] == "no" && error["hint"] == "wait")
            }
        }
    }

    @Test(
        "An invalid request is refused",
        arguments: [
            (#""columns":0"#, "'columns' must be 1 to 4000"), (#""columns":4001"#, "'columns' must be 1 to 4000"),
            (#""since":"soon""#, "'since' must be a time"),
            (#""since":"1h","until":"2h""#, "'since' must be earlier than 'until'"),
            (#""to":"1h""#, "'history' takes no 'to'"),
        ])
    func invalid(members: String, message: String) async throws {
        let folder = TemporaryFolder()
        let rig = try ControlRig(recorder: Self.program("exit 1", in: folder))
        try await rig.run {
            let line = #"{"id":1,"do":"history","device":"pump",\#(members)}"#
            let client = try await rig.client()
            #expect(try await client.answer(to: line)["error"]?["message"] == .text(message))
        }
    }

    @Test("Each report of a recorded device's state becomes a reading, also if nothing has changed")
    func readings() async throws {
        let folder = TemporaryFolder()
        let link = ScriptedLink()
        let rig = try ControlRig(link: link, recorder: Self.program("exit 1", in: folder))
        try await rig.run {
            try await rig.untilUp()
            for line in [
                "TEMP:34.5", "STATUS:{State:OFF,SkinTemp:34.0C}", "[BT] connected", "STATUS:{State:OFF,SkinTemp:34.0C}",
            ] {
                await link.deliver(line + "\r\n")
                await settle()
            }
            #expect(rig.readings.state.count == 2)
            #expect(rig.readings.state.last?.contains(#""state":"off","skin_temp_c":34.0"#) == true)
        }
    }

    @Test("Each change of a recorded device is recorded with its author and its outcome; queries are not")
    func changes() async throws {
        let folder = TemporaryFolder()
        let rig = try ControlRig(recorder: Self.program("exit 1", in: folder))
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            _ = try await client.refusal(
                "command", ["device": "pump", "name": "speed", "parameters": .object(["speed": 7]), "by": "somebody"])
            _ = try await client.ask("command", ["device": "pump", "name": "status"])
            _ = try await client.ask("send", ["device": "pump", "line": "ON", "by": "somebody"])
            _ = try await client.ask("stop", ["device": "pump", "by": "somebody"])
            await rig.pressButton()
            let texts = try await rig.changes.wait(for: "four changes") { $0.count == 4 ? $0 : nil }
            let changes = try texts.map { try JSONValue(parsing: $0) }
            #expect(changes.map { $0["command"] } == ["speed", "on", "off", "on"])
            #expect(changes.map { $0["outcome"] } == ["nothing_changed", "done", "done", "done"])
            #expect(changes[..<3].allSatisfy { $0["by"]?.string.hasPrefix("somebody (pid ") == true })
            #expect(changes[3]["by"] == "by hand")
        }
    }
}
