internal import Glibc
internal import RecordFormat

/// What one of the callers wants from the writer.
enum Work: Sendable {
    /// Takes the outcome of what was waited for: which of the messages were new, or why none was kept.
    typealias Receipt = @Sendable (Result<[Bool], RecorderError>) -> Void

    case record(Record)
    case commit([StoredMessage], synced: [String], Receipt)

    /// About how much memory it takes, in bytes.
    var cost: Int {
        guard case .record(let record) = self else { return 0 }
        let text =
            switch record.content {
            case .reading(_, let reading): reading.json.utf8.count
            case .event(_, let text): text?.utf8.count ?? 0
            case .error(_, let text): text.utf8.count
            case .begun, .ended: 0
            }
        return 128 + text
    }

    /// Whether it is taken also where memory is used up: without its beginning a session could not be kept at all, and
    /// these are few.
    var isAlwaysTaken: Bool {
        guard case .record(let record) = self else { return true }
        switch record.content {
        case .begun, .ended: return true
        case .reading, .event, .error: return false
        }
    }

    /// Whether somebody waits for it.
    var isAwaited: Bool {
        if case .record = self { false } else { true }
    }
}

/// What is to be written, between those who record and the thread that writes. Nobody waits who puts something in.
///
/// Unchecked: all that varies is read and written with the mutex held.
final class WriteQueue: @unchecked Sendable {
    /// What the writer has to do next.
    struct Batch {
        var work: [Work] = []
        /// How many records were turned away since the last batch.
        var turnedAway = 0
        /// Nothing will come behind it.
        var isLast = false
    }

    private let limit: Int
    private let interval: Duration
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    private var work: [Work] = []
    /// Of the work that waits and of that which is being written.
    private var cost = 0
    private var turnedAway = 0
    private var isAwaited = false
    private var isClosed = false
    /// When the work that waits is due.
    private var due: ContinuousClock.Instant?

    /// - Parameters:
    ///   - limit: How much memory the records may take, in bytes.
    ///   - interval: How long a record waits for others to be written with it.
    init(limit: Int, interval: Duration) {
        self.limit = limit
        self.interval = interval
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func withLock<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Puts something in; false if the queue is closed. A record that memory has no room for is counted and let go.
    func put(_ new: Work) -> Bool {
        let newCost = new.cost
        return withLock {
            if isClosed { return false }
            if cost + newCost > limit, !new.isAlwaysTaken {
                turnedAway += 1
                return true
            }
            let wasBelow = cost < limit / 4
            work.append(new)
            cost += newCost
            if due == nil { due = .now.advanced(by: interval) }
            if new.isAwaited { isAwaited = true }
            // The writer sleeps until the first is due, unless somebody waits or much has come.
            if work.count == 1 || new.isAwaited || (wasBelow && cost >= limit / 4) { pthread_cond_signal(condition) }
            return true
        }
    }

    /// Nothing more is taken; what is there is still written.
    func close() -> Bool {
        withLock {
            defer {
                isClosed = true
                pthread_cond_signal(condition)
            }
            return !isClosed
        }
    }

    /// Waits until there is something to write, and takes all of it.
    ///
    /// - Parameter retry: When to come back with nothing, to try what could not be written again; until then only what
    ///   is awaited counts.
    func take(retryingAt retry: ContinuousClock.Instant?) -> Batch {
        withLock {
            while !isAwaited, !isClosed {
                let now = ContinuousClock.now
                let deadline = retry ?? (cost >= limit / 4 && !work.isEmpty ? now : due)
                if let deadline, deadline <= now { break }
                wait(deadline.map { now.duration(to: $0) })
            }
            defer {
                work = []
                turnedAway = 0
                due = nil
                isAwaited = false
            }
            return Batch(work: work, turnedAway: turnedAway, isLast: isClosed)
        }
    }

    /// Records of so much memory were written, or given up.
    func release(_ amount: Int) { withLock { cost -= amount } }

    private func wait(_ time: Duration?) {
        guard let time else {
            pthread_cond_wait(condition, mutex)
            return
        }
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let (seconds, attoseconds) = time.components
        deadline.tv_sec += Int(seconds)
        deadline.tv_nsec += Int(attoseconds / 1_000_000_000)
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        pthread_cond_timedwait(condition, mutex, &deadline)
    }
}
