import DescriptorIO
import Glibc
import Testing

@testable import Terminal

@Suite("Interruptible work", .timeLimit(.minutes(5)))
struct InterruptibleWorkTests {
    @Test("Undisturbed work ends with its result")
    func undisturbed() async throws {
        let work = InterruptibleWork()
        let result = await work.run(on: .shared, {}) { $0 }
        try result.get()
        #expect(work.exitStatus == nil)
        #expect(!work.wasSuspended)
    }

    @Test("The first signal cancels the work and sets the exit status")
    func firstSignal() async {
        let work = InterruptibleWork()
        let result = await work.run(on: .shared) {
            work.take(SIGTERM, on: .shared)
            // If this closure runs before the work knows its task, the cancellation follows a moment later.
            try await EventLoopClock(.shared).sleep(for: .seconds(3600))
        } conclude: {
            $0
        }
        #expect(throws: CancellationError.self) { try result.get() }
        // 128 plus the number of SIGTERM.
        #expect(work.exitStatus == 143)
    }

    @Test("Signals within a second after the first one do not end the program")
    func echo() async {
        let (work, begin) = (InterruptibleWork(), ContinuousClock.now)
        let result = await work.run(on: .shared) {
            for signal in [SIGTERM, SIGTERM, SIGHUP] { work.take(signal, on: .shared, at: begin) }
            work.take(SIGTERM, on: .shared, at: begin + .milliseconds(999))
            try await EventLoopClock(.shared).sleep(for: .seconds(3600))
        } conclude: {
            $0
        }
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(work.exitStatus == 143)
    }

    @Test("Work cancelled before it begins is cancelled without a signal")
    func early() async {
        let work = InterruptibleWork()
        work.cancel()
        let result = await work.run(on: .shared) {
            try await EventLoopClock(.shared).sleep(for: .seconds(3600))
        } conclude: {
            $0
        }
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(work.exitStatus == nil)
    }
}
