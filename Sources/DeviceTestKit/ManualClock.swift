internal import Synchronization

/// A clock that advances on demand only. It may be used on any thread.
///
/// A sleep whose deadline has passed returns immediately, so it makes no difference whether the clock advanced before
/// or after the sleep began.
///
///     let clock = ManualClock()
///     clock.advance(by: .seconds(3))
public final class ManualClock: Clock {
    /// An instant of the clock. The clock starts at zero.
    public struct Instant: InstantProtocol {
        /// The total time by which the clock has advanced at this instant.
        public let offset: Duration

        /// Creates the instant at which the clock has advanced by `offset` in total.
        public init(offset: Duration) { self.offset = offset }

        /// Returns the instant `duration` later; earlier if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time until `other`, which is negative if `other` is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: UInt64
        let deadline: Instant
        let continuation: UnsafeContinuation<Void, any Error>
    }

    /// A caller of ``untilSomebodySleeps(until:)``.
    private struct Observer {
        let id: UInt64
        let deadline: Instant
        let continuation: UnsafeContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastID: UInt64 = 0
        /// The earliest deadline first; equal deadlines in order of arrival.
        var sleepers: [Sleeper] = []
        var observers: [Observer] = []
    }

    private let state = Mutex(State())

    /// Creates a clock at zero.
    public init() {}

    /// The total time by which the clock has advanced.
    public var now: Instant { state.withLock { $0.now } }
    /// Zero: sleepers wake exactly at their deadlines.
    public var minimumResolution: Duration { .zero }

    /// Waits until the clock is advanced to `deadline`. The tolerance is ignored.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                begin(Sleeper(id: id, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Advances the clock and wakes the sleepers that are due, earliest first.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let count = state.sleepers.prefix { $0.deadline <= state.now }.count
            defer { state.sleepers.removeFirst(count) }
            return Array(state.sleepers[..<count])
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// The deadlines of the sleeping tasks, earliest first, as offsets: see ``Instant/offset``.
    public var deadlines: [Duration] { state.withLock { $0.sleepers.map(\.deadline.offset) } }

    /// Waits until a task sleeps until exactly `deadline`, an offset: see ``Instant/offset``. Returns early if the
    /// current task is cancelled, for example by a test's time limit.
    public func untilSomebodySleeps(until deadline: Duration) async {
        let deadline = Instant(offset: deadline)
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isOver = state.withLock { state in
                    let isOver = Task.isCancelled || state.sleepers.contains { $0.deadline == deadline }
                    if !isOver {
                        state.observers.append(Observer(id: id, deadline: deadline, continuation: continuation))
                    }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let observer = state.withLock { state in
                state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
            }
            observer?.continuation.resume()
        }
    }

    private func begin(_ sleeper: Sleeper) {
        // The cancellation handler needs the same lock: it either runs later and finds the sleeper, or has run before
        // this check for cancellation.
        let (result, observers): (Result<Void, any Error>?, [UnsafeContinuation<Void, Never>]) = state.withLock {
            state in
            if Task.isCancelled { return (.failure(CancellationError()), []) }
            if sleeper.deadline <= state.now { return (.success(()), []) }
            let index = state.sleepers.firstIndex { sleeper.deadline < $0.deadline } ?? state.sleepers.endIndex
            state.sleepers.insert(sleeper, at: index)
            defer { state.observers.removeAll { $0.deadline == sleeper.deadline } }
            return (nil, state.observers.filter { $0.deadline == sleeper.deadline }.map(\.continuation))
        }
        if let result { sleeper.continuation.resume(with: result) }
        for observer in observers { observer.resume() }
    }

    private func cancel(_ id: UInt64) {
        let sleeper = state.withLock { state in
            state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
