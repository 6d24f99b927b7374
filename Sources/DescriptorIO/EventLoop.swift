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
    // @unchecked: `poller` and `timers` are touched by the loop's thread alone (asserted by `onLoop`); all that other
    // threads reach is behind `inbox` and `owner`.

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

    private let inbox = Mutex(Inbox())
    /// The loop's thread as `pthread_self` gives it; 0 while nothing runs the loop.
    private let owner = Atomic<UInt>(0)
    private let wakeDescriptor: CInt
    private var poller: Poller
    private var timers = TimerQueue()
    /// For whoever reads on the loop's thread, until its next read.
    let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: DescriptorChannel.readLength)

    /// A loop that runs nothing until ``start()`` or ``run(_:)``.
    public init() {
        // eventfd fails only where the process has no descriptor or no memory left.
        wakeDescriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(wakeDescriptor >= 0, "no descriptor left for the event loop")
        poller = Poller(wakeDescriptor: wakeDescriptor)
    }

    deinit {
        scratch.deallocate()
        close(wakeDescriptor)
    }

    // MARK: Running

    /// Runs the loop on a thread of its own until ``stop()``.
    public func start() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { context in
                let loop = Unmanaged<EventLoop>.fromOpaque(context!).takeRetainedValue()
                loop.runUntilStopped()
                return nil
            }, context)
        precondition(result == 0, "no thread left for the event loop")
        pthread_detach(thread)
    }

    /// Ends the loop's thread once what is queued has run. What still waits on a descriptor then waits for ever: close
    /// channels first.
    public func stop() {
        let wasEmpty = inbox.withLock { inbox in
            inbox.isStopped = true
            return inbox.isEmpty
        }
        if wasEmpty { wake() }
    }

    /// Runs `body` on a loop that borrows the calling thread, and returns what it returned.
    public static func run<Value: Sendable>(
        _ body: @Sendable @escaping (EventLoop) async -> Value
    ) -> Value {
        let loop = EventLoop()
        let result = Mutex<Value?>(nil)
        Task(executorPreference: loop) {
            let value = await body(loop)
            result.withLock { $0 = value }
            loop.stop()
        }
        loop.runUntilStopped()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("the loop was stopped from inside") }
        return value
    }

    private func runUntilStopped() {
        owner.store(UInt(pthread_self()), ordering: .releasing)
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        while true {
            let isStopped = inbox.withLock { inbox in
                swap(&jobs, &inbox.jobs)
                swap(&calls, &inbox.calls)
                return inbox.isStopped
            }
            if jobs.isEmpty && calls.isEmpty {
                if isStopped { break }
                waitForEvents()
                continue
            }
            for call in calls { call() }
            for job in jobs {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            jobs.removeAll(keepingCapacity: true)
            calls.removeAll(keepingCapacity: true)
        }
        owner.store(0, ordering: .releasing)
    }

    private func waitForEvents() {
        if timers.next != nil {
            for action in timers.takeDue(at: .now) { action() }
        }
        guard inbox.withLock({ $0.isEmpty }) else { return }
        poller.wait(until: timers.next)
        for (handler, events) in poller.takeReported() { handler.ready(events) }
    }

    // MARK: Executor

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasEmpty = inbox.withLock { inbox in
            defer { inbox.jobs.append(job) }
            return inbox.isEmpty
        }
        if wasEmpty && !isCurrent { wake() }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { precondition(isCurrent, "not on the event loop's thread") }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Whether the caller runs on the loop's thread.
    public var isCurrent: Bool { owner.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Calls `body` on the loop's thread, soon, from any thread.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        let wasEmpty = inbox.withLock { inbox in
            defer { inbox.calls.append(body) }
            return inbox.isEmpty
        }
        if wasEmpty && !isCurrent { wake() }
    }

    private func wake() {
        // A full counter (EAGAIN) is a wake-up that is already there.
        eventfd_write(wakeDescriptor, 1)
    }

    // MARK: For what waits on the loop; on its thread only

    func watch(_ descriptor: CInt, events: CShort, handler: any PollHandler) -> PollToken {
        assert(isCurrent)
        return poller.add(descriptor, events: events, handler: handler)
    }

    func setInterest(_ token: PollToken, events: CShort) {
        assert(isCurrent)
        poller.setInterest(token, events: events)
    }

    func unwatch(_ token: PollToken) {
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
