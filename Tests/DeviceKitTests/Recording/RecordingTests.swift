import DeviceKit
import LineProtocol
import RecordFormat
import TestSupport
import Testing

@Suite("A record that is kept by a program", .timeLimit(.minutes(5)))
struct RecordingTests {
    @Test("A program that is not there is no record, and that is said")
    func missing() {
        let trouble = #expect(throws: Trouble.self) {
            try Recording(of: "pump", by: CompanionProgram(path: "/no/such/program")) { _ in }
        }
        #expect(trouble?.code == "system")
        #expect(trouble?.text.contains("/no/such/program") == true)
    }

    @Test("A program that ends is told of once, and holds nobody up")
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

    @Test("What a program records of several links is begun once, with the first that goes over one")
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

    @Test("A recording that was not begun has no end")
    func unused() async {
        await SharedRecording(of: "pump", by: CompanionProgram(path: "/no/such/program")).end("closed")
    }
}
