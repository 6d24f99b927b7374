import DeviceKit
import DeviceTestKit
import Testing

@Suite("Stop by an OFF request", .timeLimit(.minutes(5))) struct OffStopTests {
    private let clock = ManualClock()
    private let stop = OffStop()

    /// Starts a body that lasts for an hour of the clock, unless it is cancelled.
    private func lasting() -> Task<Void, any Error> {
        Task { [stop, clock] in try await stop.run { try await clock.sleep(for: .seconds(3600)) } }
    }

    @Test func `A body that ends normally was not stopped`() async throws {
        try await stop.run {}
        #expect(!stop.wasTaken)
    }

    @Test func `An OFF request cancels a running body`() async throws {
        let running = lasting()
        await clock.untilSomebodySleeps(until: .seconds(3600))
        stop.take()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(stop.wasTaken)
    }

    @Test func `A body that starts after an OFF request is cancelled at once`() async throws {
        stop.take()
        await #expect(throws: CancellationError.self) { try await lasting().value }
    }

    @Test func `Cancelling the caller ends the body without an OFF request`() async throws {
        let running = lasting()
        await clock.untilSomebodySleeps(until: .seconds(3600))
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(!stop.wasTaken)
    }

    @Test func `Other errors are passed on unchanged`() async throws {
        struct Flaw: Error {}
        await #expect(throws: Flaw.self) { try await stop.run { throw Flaw() } }
        // After the end of the body, a request has nothing to cancel.
        stop.take()
    }
}
