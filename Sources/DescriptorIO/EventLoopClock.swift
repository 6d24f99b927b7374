internal import Synchronization

/// The continuous clock, with sleeps as timers of an event loop, so that a sleep starts no thread.
public struct EventLoopClock: Clock {
    /// An instant of the continuous clock.
    public typealias Instant = ContinuousClock.Instant

    let loop: EventLoop

    /// Creates a clock that resumes sleeping tasks from the thread of `loop`.
    public init(_ loop: EventLoop) { self.loop = loop }

    /// The current instant of the continuous clock.
    public var now: Instant { .now }
    /// 50 µs: the default timer slack of Linux.
    public var minimumResolution: Duration { .microseconds(50) }

    /// Suspends until `deadline`, as a timer of the loop.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = Sleeper(loop: loop)
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { sleeper.begin(until: deadline, $0) }
            try Task.checkCancellation()
        } onCancel: {
            sleeper.wake()
        }
    }
}

/// A single sleep, resumed once: by its timer or by cancellation.
private final class Sleeper: Sendable {
    private enum State {
        case notStarted
        case asleep(UnsafeContinuation<Void, Never>, TimerQueue.Token?)
        case awake
    }

    private let loop: EventLoop
    private let state = Mutex(State.notStarted)

    init(loop: EventLoop) { self.loop = loop }

    func begin(until deadline: ContinuousClock.Instant, _ continuation: UnsafeContinuation<Void, Never>) {
        let isAwake = state.withLock { state in
            if case .awake = state { return true }
            state = .asleep(continuation, nil)
            return false
        }
        if isAwake { return continuation.resume() }
        if loop.isCurrent {
            setTimer(at: deadline)
        } else {
            loop.execute { self.setTimer(at: deadline) }
        }
    }

    private func setTimer(at deadline: ContinuousClock.Instant) {
        state.withLock { state in
            guard case .asleep(let continuation, nil) = state else { return }
            state = .asleep(continuation, loop.schedule(at: deadline) { self.wake() })
        }
    }

    func wake() {
        let previous = state.withLock { state in
            defer { state = .awake }
            return state
        }
        guard case .asleep(let continuation, let token) = previous else { return }
        if let token { loop.execute { [loop] in loop.cancel(token) } }
        continuation.resume()
    }
}
