internal import CDescriptorIO
internal import Glibc
internal import Synchronization

/// A thread that waits for descriptors and timers, and runs Swift jobs in between.
///
/// The loop is an executor for actors and tasks. A session, its link and the task that uses them all run on the loop's
/// thread, so that bytes from a descriptor reach the waiting code without a change of threads.
///
/// A library uses ``shared``, which has a thread of its own. A program with a single purpose runs one loop on its main
/// thread by ``run(_:)``, and creates no other.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: only the loop's thread uses the variables and `scratch`. Other threads use only `inbox`, `hasMail`
    // and `owner`, which are safe for all threads, and write to `wakeDescriptor`.

    /// The default loop. Its thread starts at the first use and lives as long as the process.
    public static let shared: EventLoop = {
        let loop = EventLoop()
        loop.start()
        return loop
    }()

    private struct Inbox {
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        var isStopped = false

        var isEmpty: Bool { jobs.isEmpty && calls.isEmpty }
    }

    /// The jobs and calls from other threads.
    private let inbox = Mutex(Inbox())
    /// Whether the inbox may have entries: set after each change of the inbox and before the wake-up, so that the loop
    /// locks the inbox only if necessary.
    private let hasMail = Atomic<Bool>(false)
    /// The jobs to run in the next round: those from the loop's own thread, which need no lock, and those from the
    /// inbox. A round runs the calls and jobs that are queued at its beginning.
    private var ownJobs: [UnownedJob] = []
    private var ownCalls: [@Sendable () -> Void] = []
    /// The loop's thread, from `pthread_self`; 0 while the loop does not run.
    private let owner = Atomic<UInt>(0)
    /// The eventfd with which other threads end a wait of the loop; -1 if there is none.
    let wakeDescriptor: CInt
    private var poller: Poller
    private var timers = TimerQueue() {
        didSet { nextTimer = timers.next.map(LoopTime.init) }
    }
    /// The earliest deadline of ``timers``, converted once for the many comparisons with the current time.
    private var nextTimer: LoopTime?
    /// The number of the process's pauses that the loop has noticed. In a pause the process is stopped, as by SIGSTOP.
    private var knownPauses: UInt32 = 0
    /// Whether there may be unread input from before the end of the last pause.
    private var hasBacklog = false
    /// Calls for the next moment without work: no queued job, and no descriptor with an event.
    private var ownIdleCalls: [() -> Void] = []
    /// The number of looks at descriptors since the first of ``ownIdleCalls`` was added.
    private var busyLooks = 0
    /// A buffer for reads on the loop's thread, valid until the next read.
    let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: DescriptorChannel.readLength)

    /// Creates a loop, which does nothing before ``start()`` or ``run(_:)``.
    public convenience init() { self.init(usesDescriptors: true) }

    /// Creates a loop.
    ///
    /// - Parameter usesDescriptors: Whether the loop opens descriptors of its own. A loop without them, as in a process
    ///   that has no descriptors left, works too, but reacts up to 10 ms later to other threads.
    init(usesDescriptors: Bool) {
        wakeDescriptor = usesDescriptors ? eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)) : -1
        poller = Poller(wakeDescriptor: wakeDescriptor, usesEpoll: usesDescriptors)
    }

    deinit {
        scratch.deallocate()
        poller.close()
        if wakeDescriptor >= 0 { close(wakeDescriptor) }
    }

    // MARK: Running

    /// Runs the loop on a thread of its own until ``stop()``. If the system has no thread left, ends the process with
    /// exit status 71.
    public func start() {
        guard let thread = try? BackgroundThread({ self.runUntilStopped() }) else {
            // Without a thread, no job of the loop would ever run.
            let message = "cannot start a thread for an event loop\n"
            _ = write(STDERR_FILENO, message, message.utf8.count)
            _exit(EX_OSERR)
        }
        thread.detach()
    }

    /// Ends the loop's thread after all queued jobs. Tasks that still wait on a descriptor would wait for ever: close
    /// channels first.
    public func stop() {
        post { $0.isStopped = true }
    }

    /// Runs `body` on a loop on the calling thread, and returns its result.
    ///
    /// - Parameter body: The work. The loop ends when `body` returns.
    public static func run<Value: Sendable>(
        _ body: @Sendable @escaping (EventLoop) async -> Value
    ) -> Value {
        let loop = EventLoop()
        // From now on, jobs from this thread count as the loop's own, and need no wake-up.
        loop.owner.store(UInt(pthread_self()), ordering: .releasing)
        let result = Mutex<Value?>(nil)
        let place = Place(loop: loop)
        Task(executorPreference: loop) {
            let value = await place.run(body)
            result.withLock { $0 = value }
            loop.stop()
        }
        loop.runUntilStopped()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("the loop was stopped from inside") }
        return value
    }

    /// The actor that isolates the body of ``run(_:)``: a call from there to another actor on the loop is a plain call.
    private actor Place {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(loop: EventLoop) { self.loop = loop }

        func run<Value>(_ body: @Sendable (EventLoop) async -> Value) async -> Value { await body(loop) }
    }

    /// Runs calls and jobs in rounds, and waits for events when there are none.
    private func runUntilStopped() {
        owner.store(UInt(pthread_self()), ordering: .releasing)
        let serialExecutor = asUnownedSerialExecutor()
        let taskExecutor = asUnownedTaskExecutor()
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        var reports: [Poller.Report] = []
        var isStopped = false
        var roundsSinceLook = 0
        while true {
            if hasMail.load(ordering: .acquiring) { isStopped = collectMail() }
            if ownJobs.isEmpty && ownCalls.isEmpty {
                if isStopped { break }
                roundsSinceLook = 0
                waitForEvents(&reports)
                continue
            }
            if roundsSinceLook == Self.roundsBetweenLooks {
                roundsSinceLook = 0
                lookForEvents(&reports)
            }
            roundsSinceLook += 1
            swap(&jobs, &ownJobs)
            swap(&calls, &ownCalls)
            for call in calls { call() }
            for job in jobs {
                job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: taskExecutor)
            }
            jobs.removeAll(keepingCapacity: true)
            calls.removeAll(keepingCapacity: true)
        }
        owner.store(0, ordering: .releasing)
    }

    /// Moves the inbox to the loop's own queues. Returns whether the loop must stop.
    private func collectMail() -> Bool {
        hasMail.store(false, ordering: .sequentiallyConsistent)
        return inbox.withLock { inbox in
            ownJobs.append(contentsOf: inbox.jobs)
            ownCalls.append(contentsOf: inbox.calls)
            inbox.jobs.removeAll(keepingCapacity: true)
            inbox.calls.removeAll(keepingCapacity: true)
            return inbox.isStopped
        }
    }

    /// The number of rounds of jobs between two looks at descriptors and timers. A task that queues one job after
    /// another must not delay input; among so many jobs, a look costs little.
    private static let roundsBetweenLooks = 64

    /// Looks at timers and descriptors: runs due timers and handles events, without waiting.
    ///
    /// - Returns: The number of descriptors with events.
    @discardableResult
    private func lookForEvents(_ reports: inout [Poller.Report]) -> Int {
        if let nextTimer, nextTimer.nanoseconds <= LoopTime.now.nanoseconds {
            for action in timers.takeDue(at: .now) { action() }
        }
        return poll(timeout: 0, &reports)
    }

    /// Waits for events and timers, and handles them. Does not wait, but only looks, if calls for an idle moment are
    /// due or there may be a backlog.
    private func waitForEvents(_ reports: inout [Poller.Report]) {
        if !ownIdleCalls.isEmpty {
            busyLooks += 1
            if lookForEvents(&reports) > 0, busyLooks < Self.mostBusyLooks { return }
            let calls = ownIdleCalls
            (ownIdleCalls, busyLooks) = ([], 0)
            for call in calls { call() }
            return
        }
        if isCatchingUp {
            hasBacklog = lookForEvents(&reports) > 0
            return
        }
        var timeout: Int64?
        if let nextTimer {
            timeout = nextTimer.nanoseconds - LoopTime.now.nanoseconds
            // Also look at descriptors: a series of due timers must not delay input.
            if let due = timeout, due <= 0 {
                for action in timers.takeDue(at: .now) { action() }
                timeout = 0
            }
        }
        poll(timeout: timeout, &reports)
    }

    @discardableResult
    private func poll(timeout: Int64?, _ reports: inout [Poller.Report]) -> Int {
        poller.wait(timeout: timeout, into: &reports)
        for report in reports { report.handler.ready(report.events) }
        defer { reports.removeAll(keepingCapacity: true) }
        return reports.count
    }

    /// Whether there may be input that was sent while the process was stopped: true from the end of a pause until a
    /// look at all descriptors finds no events. Always false unless pauses are counted: ``ProcessPauses/count()``.
    ///
    /// - Precondition: The caller runs on the loop's thread.
    public var isCatchingUp: Bool {
        assert(isCurrent)
        let pauses = ProcessPauses.number
        if pauses != knownPauses { (knownPauses, hasBacklog) = (pauses, true) }
        return hasBacklog
    }

    // MARK: Executor

    /// Runs a job on the loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent { ownJobs.append(job) } else { post { $0.jobs.append(job) } }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { precondition(isCurrent, "not on the event loop's thread") }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Whether the caller runs on the loop's thread.
    public var isCurrent: Bool { owner.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Calls `body` on the loop's thread, after the current job and never from inside this function. May be called from
    /// any thread.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        if isCurrent { ownCalls.append(body) } else { post { $0.calls.append(body) } }
    }

    /// The number of looks after which ``untilIdle()`` returns although there are always new events. Chosen, not
    /// measured.
    private static let mostBusyLooks = 1000

    /// Waits until the loop has run all queued jobs and has handled the events of all descriptors, and of the
    /// descriptors that were opened while handling them. Returns all the same if new events come without end.
    package func untilIdle() async {
        await withCheckedContinuation { continuation in
            execute { self.ownIdleCalls.append { continuation.resume() } }
        }
    }

    /// Changes the inbox, and wakes the loop if necessary.
    private func post(_ change: (inout Inbox) -> Void) {
        let wasEmpty = inbox.withLock { inbox in
            defer { change(&inbox) }
            return inbox.isEmpty
        }
        hasMail.store(true, ordering: .sequentiallyConsistent)
        // If the inbox was not empty, an earlier caller wakes the loop. A caller on the loop's thread need not wake it.
        // EAGAIN means that the counter is full, so a wake-up is pending already.
        if wasEmpty, !isCurrent { eventfd_write(wakeDescriptor, 1) }
    }

    // MARK: Watches and timers; on the loop's thread only

    /// Starts watching a descriptor for `events`, in the bits of poll(2). A hang-up and an error are always reported.
    /// Call ``unwatch(_:)`` before closing the descriptor.
    package func watch(_ descriptor: CInt, events: CShort, handler: any PollHandler) -> PollToken {
        assert(isCurrent)
        return poller.add(descriptor, events: events, handler: handler)
    }

    /// Replaces the events that a descriptor is watched for.
    package func setInterest(_ token: PollToken, events: CShort) {
        assert(isCurrent)
        poller.setInterest(token, events: events)
    }

    /// Stops watching a descriptor, which must still be open.
    package func unwatch(_ token: PollToken) {
        assert(isCurrent)
        poller.remove(token)
    }

    /// Runs an action on the loop's thread at `deadline`; soon, and never inside this function, if the deadline has
    /// passed.
    func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> TimerQueue.Token {
        assert(isCurrent)
        return timers.add(deadline: deadline, action)
    }

    /// Cancels a timer. Does nothing if the timer has fired.
    func cancel(_ token: TimerQueue.Token) {
        assert(isCurrent)
        timers.remove(token)
    }
}
