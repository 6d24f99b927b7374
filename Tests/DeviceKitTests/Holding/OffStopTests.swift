import DeviceKit
import TestSupport
import Testing

@Suite("What ends where another program asks for OFF", .timeLimit(.minutes(5))) struct OffStopTests {
    private let clock = ManualClock()
    private let stop = OffStop()

    /// Starts work that lasts for an hour, unless it is cancelled.
    private func lasting() -> Task<Void, any Error> {
        Task { [stop, clock] in try await stop.run { try await clock.sleep(for: .seconds(3600)) } }
    }

    @Test func `What ends by itself was not ended`() async throws {
        try await stop.run {}
        #expect(!stop.wasTaken)
    }

    @Test func `What runs is cancelled`() async throws {
        let running = lasting()
        await clock.untilSomebodySleeps(until: .seconds(3600))
        stop.take()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(stop.wasTaken)
    }

    @Test func `What begins afterwards is cancelled at once`() async throws {
        stop.take()
        await #expect(throws: CancellationError.self) { try await lasting().value }
    }

    @Test func `Where its caller is cancelled it ends too, and OFF was not asked for`() async throws {
        let running = lasting()
        await clock.untilSomebodySleeps(until: .seconds(3600))
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(!stop.wasTaken)
    }

    @Test func `What it did not throw is not changed`() async throws {
        struct Flaw: Error {}
        await #expect(throws: Flaw.self) { try await stop.run { throw Flaw() } }
        stop.take()
    }
}
