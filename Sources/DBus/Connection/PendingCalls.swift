internal import DescriptorIO

/// The calls that have no reply yet, with their deadlines.
///
/// One task serves all calls: the task sleeps until the earliest deadline. If no other call has a deadline when the
/// task wakes, no new task starts, so that an idle connection does nothing.
final class PendingCalls {
    struct Entry {
        let reply: OneShot<[DBusValue]>
        /// The operation, for errors.
        let activity: String
        /// The time since the creation of the list at which the call times out; nil for no limit.
        let deadline: Duration?
    }

    /// The calls by their serial numbers.
    private var entries: [UInt32: Entry] = [:]
    /// Returns the time since the creation of this object.
    private let elapsed: () -> Duration
    private let sleep: @Sendable (_ until: Duration) async throws -> Void
    private let loop: EventLoop
    private var sleeper: (task: Task<Void, Never>, deadline: Duration)?

    init(clock: some Clock<Duration>, loop: EventLoop) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
        self.loop = loop
    }

    deinit { sleeper?.task.cancel() }

    /// Returns the deadline of a call that starts now, as the time since the creation of this object.
    func deadline(after timeout: Duration) -> Duration { elapsed() + timeout }

    /// Adds a call.
    ///
    /// - Parameter wake: Called at the deadline; must call ``expire(wake:)``.
    func add(
        _ reply: OneShot<[DBusValue]>, serial: UInt32, activity: String, deadline: Duration?,
        wake: @escaping @Sendable () -> Void
    ) {
        entries[serial] = Entry(reply: reply, activity: activity, deadline: deadline)
        if let deadline { arm(deadline, wake) }
    }

    /// Removes and returns a call, which the caller must finish; nil if the call has been finished.
    func take(serial: UInt32) -> Entry? { entries.removeValue(forKey: serial) }

    /// Removes and returns all calls, in the order of sending.
    func takeAll() -> [Entry] {
        sleeper?.task.cancel()
        sleeper = nil
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Fails the calls whose deadline has passed. `wake` is called at the next deadline, if there is one.
    func expire(wake: @escaping @Sendable () -> Void) {
        sleeper?.task.cancel()
        sleeper = nil
        let now = elapsed()
        let due = entries.filter { $0.value.deadline.map { $0 <= now } ?? false }
        for serial in due.keys { entries[serial] = nil }
        if let next = entries.values.compactMap(\.deadline).min() { arm(next, wake) }
        for entry in due.sorted(by: { $0.key < $1.key }).map(\.value) {
            entry.reply.finish(.failure(DBusError(.timedOut, activity: entry.activity)))
        }
    }

    /// Lets `wake` be called at the deadline, unless it is called earlier anyway: ``expire(wake:)`` then arms again.
    private func arm(_ deadline: Duration, _ wake: @escaping @Sendable () -> Void) {
        if let sleeper {
            if sleeper.deadline <= deadline { return }
            sleeper.task.cancel()
        }
        let task = Task(executorPreference: loop) { [sleep, loop] in
            guard (try? await sleep(deadline)) != nil, !Task.isCancelled else { return }
            loop.execute(wake)
        }
        sleeper = (task, deadline)
    }
}
