import DescriptorIO
import Synchronization
import TestSupport
import Testing

@testable import BlueZ

@Suite("Outcomes", .timeLimit(.minutes(5)))
struct OutcomeTests {
    /// Waits for an outcome on a loop's thread. Its callers run on other threads.
    private actor Waiter {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        func wait(for number: Int) async throws(BLEError) -> Int {
            let outcome = Outcome<Int>()
            // At different times, so that some results come before the wait has begun.
            finish(outcome, number, after: number % 100)
            return try await outcome.wait(activity: "waiting")
        }

        /// Finishes the outcome after `turns` turns of the loop.
        private nonisolated func finish(_ outcome: Outcome<Int>, _ number: Int, after turns: Int) {
            loop.execute {
                guard turns > 0 else { return _ = outcome.finish(.success(number)) }
                self.finish(outcome, number, after: turns - 1)
            }
        }
    }

    @Test func `A waiter gets the result, whether it waits before or after the outcome finishes`() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let waiter = Waiter(.shared)
                    for number in 0..<2_000 {
                        let outcome = try await waiter.wait(for: number)
                        #expect(outcome == number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
