internal import Glibc
internal import Synchronization

/// An executor in simulated time: it runs its jobs on the thread that made it, and when none is left, time moves on to
/// what is due next. The same program does the same on it each time.
package final class SimulatedLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: all but `inbox` is touched by the thread that made it only. A job that comes from another thread waits
    // in `inbox`, and is counted: its task prefers no executor, and runs where and when it likes.

    /// What lives in the loop's time besides its timers.
    package struct Device {
        /// When it does anything of its own.
        package var next: () -> Duration
        /// Lives until then.
        package var step: (Duration) -> Void

        package init(next: @escaping () -> Duration, step: @escaping (Duration) -> Void) {
            (self.next, self.step) = (next, step)
        }
    }

    package enum Ending { case done, deadlock, late }

    private struct Timer {
        let time: Duration
        let id: UInt64
        let action: () -> Void
    }

    /// The time since the loop was made.
    package private(set) var now = Duration.zero
    package var device: Device?
    /// How many jobs came from other threads.
    package private(set) var strayJobs = 0

    private let thread = pthread_self()
    private var jobs: [UnownedJob] = []
    /// The earliest is the last.
    private var timers: [Timer] = []
    private var sleepers: [UInt64: UnsafeContinuation<Bool, Never>] = [:]
    private var lastID: UInt64 = 0
    private let inbox = Mutex<[UnownedJob]>([])

    /// A loop of the thread that it is made on, at time zero.
    package init() {}

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent { jobs.append(job) } else { inbox.withLock { $0.append(job) } }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func checkIsolated() { precondition(isCurrent, "not on the simulated loop's thread") }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    // MARK: Running

    /// Runs `body` to its end.
    package func run(limit: Duration, _ body: @escaping @Sendable () async -> Void) -> Ending {
        let state = RunState()
        Task(executorPreference: self) {
            await body()
            state.isDone = true
        }
        while true {
            runJobs()
            if state.isDone { return .done }
            guard advance(to: limit) else { return now >= limit ? .late : .deadlock }
        }
    }

    /// Lets so much more time go by.
    package func run(for time: Duration) {
        let limit = now + time
        runJobs()
        while advance(to: limit) { runJobs() }
    }

    private final class RunState: @unchecked Sendable {
        // @unchecked: touched by the loop's thread only.
        var isDone = false
    }

    private func runJobs() {
        let serial = asUnownedSerialExecutor()
        let preferred = asUnownedTaskExecutor()
        while true {
            let strays = inbox.withLock { inbox in
                defer { inbox = [] }
                return inbox
            }
            strayJobs += strays.count
            jobs += strays
            if jobs.isEmpty { return }
            var index = 0
            while index < jobs.count {
                jobs[index].runSynchronously(isolatedTo: serial, taskExecutor: preferred)
                index += 1
            }
            jobs.removeAll(keepingCapacity: true)
        }
    }

    /// Moves time to what is due next; false where nothing is, up to `limit`.
    private func advance(to limit: Duration) -> Bool {
        let timer = timers.last?.time
        let activity = device?.next()
        if let activity, timer.map({ activity <= $0 }) ?? true {
            guard activity <= limit else { return stand(at: limit) }
            now = max(now, activity)
            device?.step(now)
            return true
        }
        guard let timer else { return false }
        guard timer <= limit else { return stand(at: limit) }
        now = max(now, timer)
        if let due = timers.popLast() { due.action() }
        return true
    }

    private func stand(at limit: Duration) -> Bool {
        now = max(now, limit)
        return false
    }

    // MARK: Timers

    /// When the next timer is due; nil where there is none.
    package var nextTimer: Duration? { timers.last?.time }

    /// Does something at a time, behind what is to be done at the same.
    @discardableResult
    package func at(_ time: Duration, _ action: @escaping () -> Void) -> UInt64 {
        checkIsolated()
        lastID += 1
        let index = timers.lastIndex { time < $0.time }.map { $0 + 1 } ?? 0
        timers.insert(Timer(time: time, id: lastID, action: action), at: index)
        return lastID
    }

    /// Waits until a time; false where the task is cancelled.
    package func sleep(until time: Duration) async -> Bool {
        checkIsolated()
        var name: UInt64 = 0
        name = lastID + 1
        lastID += 1
        let id = name
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: false) }
                if time <= now { return continuation.resume(returning: true) }
                sleepers[id] = continuation
                at(time) { [self] in sleepers.removeValue(forKey: id)?.resume(returning: true) }
            }
        } onCancel: {
            checkIsolated()
            sleepers.removeValue(forKey: id)?.resume(returning: false)
        }
    }
}

/// The loop's time, for those who are handed a clock.
package struct SimulatedClock: Clock {
    package typealias Instant = ManualClock.Instant

    private let loop: SimulatedLoop

    package init(loop: SimulatedLoop) { self.loop = loop }

    package var now: Instant { Instant(offset: loop.now) }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        if await !loop.sleep(until: deadline.offset) { throw CancellationError() }
    }
}
