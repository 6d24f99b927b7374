import DeviceKit
import Testing

@Suite("Cleanup") struct CleanupTests {
    private struct Flaw: Error {}

    @Test func `The cleanup runs after the body`() async throws {
        var steps: [String] = []
        let value = try await withCleanup({ steps.append("cleanup") }) {
            steps.append("body")
            return 17
        }
        #expect(value == 17)
        #expect(steps == ["body", "cleanup"])
    }

    @Test func `The cleanup runs if the body throws, and the error is passed on`() async {
        var isClean = false
        await #expect(throws: Flaw.self) {
            try await withCleanup({ isClean = true }) { throw Flaw() }
        }
        #expect(isClean)
    }
}
