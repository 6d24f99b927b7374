import DescriptorIO
import DeviceKit
import TestSupport
import Testing

@Suite("What is done for a limited time", .timeLimit(.minutes(5)))
struct TimeLimitTests {
    private let clock = ManualClock()

    @Test("What ends before its time is up ends by itself")
    func inTime() async throws {
        for time in [nil, Duration.seconds(5)] {
            let (isTimeUp, result) = await withTimeLimit(time, clock: clock) {}
            #expect(!isTimeUp)
            try result.get()
        }
    }

    @Test("What does not is cancelled")
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

    @Test("The time counts from the call, though what watches it begins late")
    func lateTimer() async {
        let clock = clock
        // The loop has only one thread, and the body runs on it first.
        let (isTimeUp, result) = await withTimeLimit(.seconds(5), clock: clock, on: EventLoop.shared) {
            clock.advance(by: .seconds(5))
            try await clock.sleep(for: .seconds(60))
        }
        #expect(isTimeUp)
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test("Where the caller is cancelled its time is not up", arguments: [nil, Duration.seconds(5)])
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
