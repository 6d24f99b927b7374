internal import Glibc
internal import RecordFormat

/// A request of a caller to the writer.
enum Work: Sendable {
    /// Receives the result of a commit: for each message whether it was new, or the reason why none was stored.
    typealias Receipt = @Sendable (Result<[Bool], RecorderError>) -> Void

    case record(Record)
    case commit([StoredMessage], synced: [String], Receipt)

    /// The approximate memory use of a record, in bytes; 0 for a commit, which is not limited.
    var cost: Int {
        guard case .record(let record) = self else { return 0 }
        let text =
            switch record.content {
            case .reading(_, let reading): reading.length
            case .event(_, let text): text?.utf8.count ?? 0
            case .error(_, let text): text.utf8.count
            case .begun, .ended: 0
            }
        return 128 + text
    }

    /// Whether the request is accepted even at the memory limit: without its beginning a session could not be stored at
    /// all, and these requests are few.
    var isAlwaysTaken: Bool {
        guard case .record(let record) = self else { return true }
        switch record.content {
        case .begun, .ended: return true
        case .reading, .event, .error: return false
        }
    }

    /// Whether a caller waits for the request.
    var isAwaited: Bool {
        if case .record = self { false } else { true }
    }
}

/// A queue from the callers of a ``Recorder`` to its thread, which writes. `put` never blocks.
///
/// Unchecked Sendable: all mutable state is accessed with the mutex held.
final class WriteQueue: @unchecked Sendable {
    /// The writer's next requests.
    struct Batch {
        var work: [Work] = []
        /// The number of records dropped since the last batch.
        var turnedAway = 0
        /// Whether the queue is closed, so that no batch will follow.
        var isLast = false
    }

    private let limit: Int
    private let interval: Duration
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    private var work: [Work] = []
    /// The memory use of queued records, and of records that the writer has taken but not written yet.
    private var cost = 0
    /// The number of records dropped since the last batch.
    private var turnedAway = 0
    /// Whether a caller waits for a queued request, so that the queue must not wait for ``due``.
    private var isAwaited = false
    private var isClosed = false
    /// The time at which the queued requests are due; nil if there are none.
    private var due: ContinuousClock.Instant?

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - limit: The memory limit for records, in bytes.
    ///   - interval: The time for which a record waits, so that later records are written in the same batch.
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

    /// Adds a request; returns false if the queue is closed. A record beyond the memory limit is counted and dropped.
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
            // The writer sleeps until the first request is due, unless a caller waits or a quarter of the memory limit
            // is used.
            if work.count == 1 || new.isAwaited || (wasBelow && cost >= limit / 4) { pthread_cond_signal(condition) }
            return true
        }
    }

    /// Closes the queue to new requests; queued requests are still written. Returns false if the queue was closed
    /// already.
    func close() -> Bool {
        withLock {
            defer {
                isClosed = true
                pthread_cond_signal(condition)
            }
            return !isClosed
        }
    }

    /// Waits until a batch is due, and removes it from the queue.
    ///
    /// - Parameter retry: The time at which to return, with an empty batch if need be, so that failed writing can be
    ///   retried. Until then only an awaited request or closing ends the wait. Nil if writing has not failed.
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

    /// Subtracts the memory use of requests that were written or given up.
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
