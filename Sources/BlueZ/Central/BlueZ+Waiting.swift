internal import DBus
internal import DescriptorIO

extension BlueZ {
    /// Waits until `find` finds something: it looks at once, and whenever something has changed.
    ///
    /// - Throws: What `find` found to be in the way; `timedOut`; `cancelled`.
    func wait<Value: Sendable>(
        _ timeout: Duration, activity: String, until find: @escaping () -> Result<Value, BLEError>?
    ) async throws(BLEError) -> Value {
        if let result = find() { return try result.get() }
        let outcome = Outcome<Value>()
        let observer = keeper.observe { _ in
            if let result = find() { outcome.finish(result) }
        }
        let timer = Task(executorPreference: loop) { [clock] in
            guard (try? await clock.sleep(for: timeout)) != nil, !Task.isCancelled else { return }
            outcome.finish(.failure(BLEError(.timedOut, activity: activity)))
        }
        defer {
            keeper.stopObserving(observer)
            timer.cancel()
        }
        return try await outcome.wait(activity: activity)
    }
}

/// The time since it was made.
struct Stopwatch {
    private let read: () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
    }

    var elapsed: Duration { read() }
}
