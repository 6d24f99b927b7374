internal import Glibc
internal import Synchronization

/// An executor in simulated time. Jobs run on the thread that created the loop, during ``run(limit:_:)`` and
/// ``run(for:)``; when none is left, time advances to the next event: a timer, or an activity of the ``device``. The
/// same program behaves identically in every run, unless it has ``strayJobs``.
///
/// All times are durations since the creation of the loop.
///
///     let loop = SimulatedLoop()
///     let ending = loop.run(limit: .seconds(60)) {
///         try? await SimulatedClock(loop: loop).sleep(for: .seconds(30))
///     }
///     #expect(ending == .done && loop.now == .seconds(30))
public final class SimulatedLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: everything except `inbox` is used only on the thread that created the loop. A job from another thread
    // waits in `inbox` and is counted: the task that has sent it has no preferred executor, so it runs on any thread,
    // at any real time.

    /// A simulated device that runs in the loop's time, in addition to the timers.
    public struct Device {
        /// Returns the time at which the device next does something without input.
        public var next: () -> Duration
        /// Runs the device until this time, which is the loop's time now.
        public var step: (Duration) -> Void

        /// Creates a device from its two functions.
        public init(next: @escaping () -> Duration, step: @escaping (Duration) -> Void) {
            (self.next, self.step) = (next, step)
        }
    }

    /// The reason why ``run(limit:_:)`` has ended.
    public enum Ending: Sendable {
        /// The body has returned.
        case done
        /// Nothing is left that could wake the body.
        case deadlock
        /// The limit was reached.
        case late
    }

    private struct Timer {
        let time: Duration
        let id: UInt64
        let action: () -> Void
    }

    /// The time since the loop was created.
    public private(set) var now = Duration.zero
    /// The device that runs in the loop's time; nil for none.
    public var device: Device?
    /// The number of jobs that came from other threads. If it is not 0, two runs of the same program may differ.
    public private(set) var strayJobs = 0

    private let thread = pthread_self()
    private var jobs: [UnownedJob] = []
    /// The timers in descending order of time.
    private var timers: [Timer] = []
    /// The waiting calls of ``sleep(until:)``, by ID.
    private var sleepers: [UInt64: UnsafeContinuation<Bool, Never>] = [:]
    private var lastID: UInt64 = 0
    private let inbox = Mutex<[UnownedJob]>([])

    /// Creates a loop for the current thread, at time zero.
    public init() {}

    // MARK: Executor

    /// Adds a job. May be called on any thread; the loop's thread runs the job.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent { jobs.append(job) } else { inbox.withLock { $0.append(job) } }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { precondition(isCurrent, "not on the simulated loop's thread") }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    // MARK: Running

    /// Runs `body` until its end, or until the loop's time is `limit`. After another end than `done`, `body` stays
    /// suspended, and a further run may continue it.
    public func run(limit: Duration, _ body: @escaping @Sendable () async -> Void) -> Ending {
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

    /// Runs everything that is due within `time` from now. Then ``now`` is the end of that time if an event is
    /// scheduled after it; otherwise ``now`` stays at the last event.
    public func run(for time: Duration) {
        let limit = now + time
        runJobs()
        while advance(to: limit) { runJobs() }
    }

    private final class RunState: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
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

    /// Advances to the next event; returns false if there is none up to `limit`.
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

    /// Sets the time to `limit`, before the next event. Returns false, for ``advance(to:)``.
    private func stand(at limit: Duration) -> Bool {
        now = max(now, limit)
        return false
    }

    // MARK: Timers

    /// The time of the next timer; nil if there is none.
    public var nextTimer: Duration? { timers.last?.time }

    /// Schedules an action, which runs after all actions that were scheduled earlier for the same time. A time in the
    /// past counts as now. Returns the timer's ID.
    @discardableResult
    public func at(_ time: Duration, _ action: @escaping () -> Void) -> UInt64 {
        checkIsolated()
        lastID += 1
        let index = timers.lastIndex { time < $0.time }.map { $0 + 1 } ?? 0
        timers.insert(Timer(time: time, id: lastID, action: action), at: index)
        return lastID
    }

    /// Waits until a time; returns true then, or false as soon as the task is cancelled.
    public func sleep(until time: Duration) async -> Bool {
        checkIsolated()
        lastID += 1
        let id = lastID
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

/// The time of a ``SimulatedLoop`` as a clock.
public struct SimulatedClock: Clock {
    /// An instant of the loop's time, which starts at zero.
    public typealias Instant = ManualClock.Instant

    private let loop: SimulatedLoop

    /// Creates a clock of `loop`. Use it on the loop's thread only.
    public init(loop: SimulatedLoop) { self.loop = loop }

    /// The simulated time of the loop.
    public var now: Instant { Instant(offset: loop.now) }
    /// Zero: sleepers wake exactly at their deadlines.
    public var minimumResolution: Duration { .zero }

    /// Waits until the simulated time is `deadline`. The tolerance is ignored.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        if await !loop.sleep(until: deadline.offset) { throw CancellationError() }
    }
}
