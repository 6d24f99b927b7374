internal import CDescriptorIO
internal import Glibc
internal import Synchronization

/// One thread that waits on descriptors and timers and runs Swift's jobs in between.
///
/// It is an executor for actors and for tasks. A session, its link and the task that uses them all run on the loop's
/// thread, so that what arrives on a descriptor reaches the code that waits for it without a change of thread.
///
/// A library uses ``shared``, which has a thread of its own. A program that does one thing runs the loop on its main
/// thread by ``run(_:)`` and never makes another.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: `poller`, `timers` and what is named `own…` are touched by the loop's thread alone, which `isCurrent`
    // asserts; all that other threads reach is behind `inbox`, `hasMail` and `owner`.

    /// The loop that is used where none is named; its thread starts at the first use and lives as long as the process.
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

    /// What other threads hand in.
    private let inbox = Mutex(Inbox())
    /// Set behind each change of the inbox and before its wake-up, so that the loop looks there only when it must.
    private let hasMail = Atomic<Bool>(false)
    /// What the loop's own thread hands in, which takes no lock.
    private var ownJobs: [UnownedJob] = []
    private var ownCalls: [@Sendable () -> Void] = []
    private var ownReports: [Poller.Report] = []
    /// The loop's thread as `pthread_self` gives it; 0 while nothing runs the loop.
    private let owner = Atomic<UInt>(0)
    let wakeDescriptor: CInt
    private var poller: Poller
    private var timers = TimerQueue() {
        didSet { nextTimer = timers.next.map(LoopTime.init) }
    }
    private var nextTimer: LoopTime?
    /// How many of the process's pauses the loop has taken note of.
    private var knownPauses: UInt32 = 0
    /// Whether there may be something to read that came before the last of them was over.
    private var hasBacklog = false
    /// For whoever reads on the loop's thread, until its next read.
    let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: DescriptorChannel.readLength)

    /// A loop that runs nothing until ``start()`` or ``run(_:)``.
    public convenience init() { self.init(usesDescriptors: true) }

    /// - Parameter usesDescriptors: Whether it has descriptors of its own: it does without if there are none left.
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

    /// Runs the loop on a thread of its own until ``stop()``.
    public func start() {
        guard let thread = try? BackgroundThread({ self.runUntilStopped() }) else {
            // Nothing that is handed to the loop would ever run.
            let message = "no thread is left for an event loop\n"
            _ = write(STDERR_FILENO, message, message.utf8.count)
            _exit(EX_OSERR)
        }
        thread.detach()
    }

    /// Ends the loop's thread once what is queued has run. What still waits on a descriptor then waits for ever: close
    /// channels first.
    public func stop() {
        post { $0.isStopped = true }
    }

    /// Runs `body` on a loop that borrows the calling thread, and returns what it returned.
    public static func run<Value: Sendable>(
        _ body: @Sendable @escaping (EventLoop) async -> Value
    ) -> Value {
        let loop = EventLoop()
        // From now on what this thread hands in is the loop's own, and wakes nobody.
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

    /// Where the body of ``run(_:)`` is isolated to: a call from there to another actor on the loop is a plain call.
    private actor Place {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(loop: EventLoop) { self.loop = loop }

        func run<Value>(_ body: @Sendable (EventLoop) async -> Value) async -> Value { await body(loop) }
    }

    private func runUntilStopped() {
        owner.store(UInt(pthread_self()), ordering: .releasing)
        let serialExecutor = asUnownedSerialExecutor()
        let taskExecutor = asUnownedTaskExecutor()
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        var isStopped = false
        var roundsSinceLook = 0
        while true {
            if hasMail.load(ordering: .acquiring) { isStopped = collectMail() }
            if ownJobs.isEmpty && ownCalls.isEmpty {
                if isStopped { break }
                roundsSinceLook = 0
                waitForEvents()
                continue
            }
            if roundsSinceLook == Self.roundsBetweenLooks {
                roundsSinceLook = 0
                lookForEvents()
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

    /// Moves the inbox to the loop's own queue; returns whether the loop was told to stop.
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

    /// How many rounds of jobs may follow one another before descriptors and timers are looked at: a task that hands in
    /// one job after another keeps nobody's bytes waiting, and a look costs little where there are so many jobs.
    private static let roundsBetweenLooks = 64

    /// - Returns: Of how many descriptors something was reported.
    @discardableResult
    private func lookForEvents() -> Int {
        if let nextTimer, nextTimer.nanoseconds <= LoopTime.now.nanoseconds {
            for action in timers.takeDue(at: .now) { action() }
        }
        return poll(timeout: 0)
    }

    private func waitForEvents() {
        if isCatchingUp {
            hasBacklog = lookForEvents() > 0
            return
        }
        var timeout: Int64?
        if let nextTimer {
            timeout = nextTimer.nanoseconds - LoopTime.now.nanoseconds
            // Timers that are due one after another keep nobody's bytes waiting.
            if let due = timeout, due <= 0 {
                for action in timers.takeDue(at: .now) { action() }
                timeout = 0
            }
        }
        poll(timeout: timeout)
    }

    @discardableResult
    private func poll(timeout: Int64?) -> Int {
        poller.wait(timeout: timeout, into: &ownReports)
        for report in ownReports { report.handler.ready(report.events) }
        defer { ownReports.removeAll(keepingCapacity: true) }
        return ownReports.count
    }

    /// Whether what is heard now may have been sent while the process was stopped: true from the end of a pause until the loop
    /// has found nothing more to read. Only where pauses are counted: ``ProcessPauses/count()``.
    ///
    /// - Precondition: The caller runs on the loop's thread.
    public var isCatchingUp: Bool {
        assert(isCurrent)
        let pauses = ProcessPauses.number
        if pauses != knownPauses { (knownPauses, hasBacklog) = (pauses, true) }
        return hasBacklog
    }

    // MARK: Executor

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent { ownJobs.append(job) } else { post { $0.jobs.append(job) } }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { precondition(isCurrent, "not on the event loop's thread") }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Whether the caller runs on the loop's thread.
    public var isCurrent: Bool { owner.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Calls `body` on the loop's thread, soon, from any thread.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        if isCurrent { ownCalls.append(body) } else { post { $0.calls.append(body) } }
    }

    private func post(_ change: (inout Inbox) -> Void) {
        let wasEmpty = inbox.withLock { inbox in
            defer { change(&inbox) }
            return inbox.isEmpty
        }
        hasMail.store(true, ordering: .sequentiallyConsistent)
        // Where it was not empty, whoever made it so wakes the loop, which looks by itself at what its own thread hands in. A
        // full counter (EAGAIN) is a wake-up that is there.
        if wasEmpty, !isCurrent { eventfd_write(wakeDescriptor, 1) }
    }

    // MARK: For what waits on the loop; on its thread only

    package func watch(_ descriptor: CInt, events: CShort, handler: any PollHandler) -> PollToken {
        assert(isCurrent)
        return poller.add(descriptor, events: events, handler: handler)
    }

    package func setInterest(_ token: PollToken, events: CShort) {
        assert(isCurrent)
        poller.setInterest(token, events: events)
    }

    package func unwatch(_ token: PollToken) {
        assert(isCurrent)
        poller.remove(token)
    }

    func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> TimerQueue.Token {
        assert(isCurrent)
        return timers.add(deadline: deadline, action)
    }

    func cancel(_ token: TimerQueue.Token) {
        assert(isCurrent)
        timers.remove(token)
    }
}
