import DeviceKit
import DeviceTestKit
import LineProtocol
import RecordFormat
import TestSupport
import Testing

@Suite("Recording by a program", .timeLimit(.minutes(5)))
struct RecordingTests {
    @Test("A missing recorder program is reported")
    func missing() {
        let trouble = #expect(throws: Trouble.self) {
            try Recording(of: "pump", by: CompanionProgram(path: "/no/such/program")) { _ in }
        }
        #expect(trouble?.code == "system")
        #expect(trouble?.text.contains("/no/such/program") == true)
    }

    @Test("A recorder program that ends is reported once and delays nobody")
    func ended() async throws {
        let told = Watched<[Recording.Report]>([])
        let recording = try Recording(of: "pump", by: CompanionProgram(path: "/bin/echo")) { report in
            told.update { $0.append(report) }
        }
        await recording.listen()
        _ = try await told.wait(for: "the end") { $0.isEmpty ? nil : true }
        let session = recording.beginSession(named: "bench", device: nil)
        recording.record(.event(kind: "text", text: "hello"), in: session)
        await recording.end("closed")
        // Three records are lost: the beginning, the text, and the end.
        #expect(told.state == [.broken, .lost(3)])
    }

    @Test("A shared recording starts with the first traffic, and its failure is reported once")
    func shared() async throws {
        let told = Watched<[String]>([])
        let recording = SharedRecording(of: "pump", by: CompanionProgram(path: "/no/such/program"))
        let bare = ScriptedLink()
        let link = recording.recorded(bare, as: "bench") { _ in told.update { $0.append("link") } }
        #expect(told.state == [])
        try await link.send(Array("OFF\n".utf8))
        _ = try await told.wait(for: "the beginning") { $0.isEmpty ? nil : true }
        // The caller already knows that nothing is recorded, and is not informed again.
        let second = await recording.begun { _ in told.update { $0.append("values") } }
        #expect(second == nil)
        await recording.end("closed")
        #expect(told.state == ["link"])
        #expect(await bare.nextSent() == "OFF\n")
        await link.close()
    }

    @Test("Ending an unused recording does nothing")
    func unused() async {
        await SharedRecording(of: "pump", by: CompanionProgram(path: "/no/such/program")).end("closed")
    }
}
