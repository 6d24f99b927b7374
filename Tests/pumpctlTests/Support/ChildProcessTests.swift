import TestSupport
import Testing

@Suite struct ChildProcessTests {
    @Test func `A program that cannot be started is an error`() async {
        await #expect(throws: ChildProcess.NotStarted.self) { _ = try await ChildProcess(["/nonexistent/program"]) }
    }
}
