import DescriptorIO
import DeviceKit
import DeviceTestKit
import Testing

@Suite("Time limits", .timeLimit(.minutes(5)))
struct TimeLimitTests {
    private let clock = ManualClock()

    @Test("A body that ends in time is not marked as timed out")
    func inTime() async throws {
        for time in [nil, Duration.seconds(5)] {
            let (isTimeUp, result) = await withTimeLimit(time, clock: clock) {}
            #expect(!isTimeUp)
            try result.get()
        }
    }

    @Test("A body that takes too long is cancelled")
    func timeUp() async {
        let clock = clock
        async let ending = withTimeLimit(.seconds(5), clock: clock) { try await clock.sleep(for: .seconds(60)) }
        await clock.untilSomebodySleeps(until: .seconds(5))
        await clock.untilSomebodySleeps(until: .seconds(60))
        clock.advance(by: .seconds(5))
        let (isTimeUp, result) = await ending
        #expect(isTimeUp)
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test("The time limit counts from the call, even if its timer starts late")
    func lateTimer() async {
        let clock = clock
        // The loop has only one thread, on which the body runs before the timer starts.
        let (isTimeUp, result) = await withTimeLimit(.seconds(5), clock: clock, on: EventLoop.shared) {
            clock.advance(by: .seconds(5))
            try await clock.sleep(for: .seconds(60))
        }
        #expect(isTimeUp)
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test("Cancelling the caller does not count as a timeout", arguments: [nil, Duration.seconds(5)])
    func cancelled(time: Duration?) async {
        let clock = clock
        let caller = Task { await withTimeLimit(time, clock: clock) { try await clock.sleep(for: .seconds(60)) } }
        await clock.untilSomebodySleeps(until: .seconds(60))
        caller.cancel()
        let (isTimeUp, result) = await caller.value
        #expect(!isTimeUp)
        #expect(throws: CancellationError.self) { try result.get() }
    }
}
