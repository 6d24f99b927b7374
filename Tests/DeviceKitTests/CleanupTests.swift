import DeviceKit
import Testing

@Suite("What is cleaned up however something ended") struct CleanupTests {
    private struct Flaw: Error {}

    @Test func `It comes behind what was done`() async throws {
        var steps: [String] = []
        let value = try await withCleanup({ steps.append("cleanup") }) {
            steps.append("body")
            return 17
        }
        #expect(value == 17)
        #expect(steps == ["body", "cleanup"])
    }

    @Test func `It comes where that failed, which is thrown all the same`() async {
        var isClean = false
        await #expect(throws: Flaw.self) {
            try await withCleanup({ isClean = true }) { throw Flaw() }
        }
        #expect(isClean)
    }
}
