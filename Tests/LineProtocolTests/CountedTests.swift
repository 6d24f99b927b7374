import Testing

@testable import LineProtocol

@Suite("Counts in messages")
struct CountedTests {
    @Test("Only a count of 1 takes the singular")
    func plurals() {
        let counts = [0, 1, 2, 11, 21].map { $0.counted("record") }
        #expect(counts == ["0 records", "1 record", "2 records", "11 records", "21 records"])
        #expect(UInt64(1).counted("reply", "replies") == "1 reply" && 2.counted("reply", "replies") == "2 replies")
    }

    @Test("A message about a device counts bytes the same way")
    func messages() {
        #expect("\(RescueError(.noise, at: 1))" == "1 byte outside any message")
    }
}
