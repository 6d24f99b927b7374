import TestSupport
import Testing

@Suite struct ChildProcessTests {
    @Test func `A program that can't be started is an error, and nothing else ends`() async {
        await #expect(throws: ChildProcess.NotStarted.self) { _ = try await ChildProcess(["/nonexistent/program"]) }
    }
}
