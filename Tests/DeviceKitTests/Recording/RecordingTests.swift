import DeviceKit
import RecordFormat
import TestSupport
import Testing

@Suite("A record that is kept by a program", .timeLimit(.minutes(1)))
struct RecordingTests {
    @Test("A program that is not there is no record, and that is said")
    func missing() {
        let trouble = #expect(throws: Trouble.self) {
            try Recording(of: "pump", by: RecordProgram(path: "/no/such/program")) { _ in }
        }
        #expect(trouble?.code == "system")
        #expect(trouble?.text.contains("/no/such/program") == true)
    }

    @Test("A program that ends is told of once, and holds nobody up")
    func ended() async throws {
        let told = Watched<[Recording.Report]>([])
        let recording = try Recording(of: "pump", by: RecordProgram(path: "/bin/echo")) { report in
            told.update { $0.append(report) }
        }
        await recording.listen()
        _ = try await told.wait(for: "the end") { $0.isEmpty ? nil : true }
        let session = recording.beginSession(named: "bench", device: nil)
        recording.record(.event(kind: "text", text: "hello"), in: session)
        await recording.end("closed")
        // The beginning, what was said, and the end.
        #expect(told.state == [.broken, .lost(3)])
    }
}
