internal import DBus
internal import DescriptorIO

extension BlueZ {
    /// Waits until `find` returns a result; nil means "not yet". Calls `find` at once, and after each change of the
    /// mirror, which is the copy of bluetoothd's objects.
    ///
    /// - Throws: The error that `find` returns; `timedOut` after `timeout`; `cancelled` if the task is cancelled.
    func wait<Value: Sendable>(
        _ timeout: Duration, activity: String, until find: @escaping () -> Result<Value, BLEError>?
    ) async throws(BLEError) -> Value {
        let watch = Stopwatch(clock)
        if let result = find() { return try result.get() }
        let outcome = Outcome<Value>()
        let observer = keeper.observe { _ in
            if let result = find() { outcome.finish(result) }
        }
        let timer = Task(executorPreference: loop) {
            guard (try? await watch.sleep(timeout)) != nil, !Task.isCancelled else { return }
            outcome.finish(.failure(BLEError(.timedOut, activity: activity)))
        }
        defer {
            keeper.stopObserving(observer)
            timer.cancel()
        }
        return try await outcome.wait(activity: activity)
    }
}

/// Measures the time since its creation.
struct Stopwatch: Sendable {
    /// Sleeps until this duration has passed since the creation of the stopwatch, even if the sleep begins late.
    let sleep: @Sendable (Duration) async throws -> Void
    private let read: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    var elapsed: Duration { read() }
}
