import Glibc
import Synchronization
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Signal sources", .timeLimit(.minutes(5)), .serialized)
struct SignalSourceTests {
    /// The number of calls of the SIGURG handler that the test installs before it opens the source. No other test uses
    /// SIGURG.
    private static let count = Atomic<Int>(0)

    @Test("Signals are delivered until the source closes; afterwards they reach their earlier handler")
    func ends() async throws {
        signal(SIGURG) { _ in SignalSourceTests.count.add(1, ordering: .relaxed) }
        let heard = Watched(0)
        let source = try SignalSource.open([SIGURG]) { _ in heard.update { $0 += 1 } }
        let thread = try #require(source.thread.withLock { $0 })
        thread.send(signal: SIGURG)
        _ = try await heard.wait(for: "the signal") { $0 == 1 ? true : nil }
        source.close(isEnding: true)
        let before = Self.count.load(ordering: .relaxed)
        thread.send(signal: SIGURG)
        while Self.count.load(ordering: .relaxed) == before { await Task.yield() }
        #expect(heard.state == 1)
    }
}
