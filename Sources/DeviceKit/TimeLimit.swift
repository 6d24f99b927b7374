internal import LineProtocol

/// Runs `body` for `time` at most, after which it is cancelled; without a limit where `time` is nil.
///
/// ```swift
/// let (isTimeUp, result) = await withTimeLimit(.seconds(10)) { try await console.run(over: link) }
/// ```
///
/// - Parameters:
///   - clock: Measures the time.
///   - executor: What `body` runs on where there is a limit; nil for the global one.
/// - Returns: Whether the time was over before `body` was done, and how `body` ended.
public func withTimeLimit(
    _ time: Duration?, clock: any Clock<Duration> = ContinuousClock(), on executor: (any TaskExecutor)? = nil,
    _ body: @escaping @Sendable () async throws -> Void
) async -> (isTimeUp: Bool, result: Result<Void, any Error>) {
    guard let time else {
        do { return (false, .success(try await body())) } catch { return (false, .failure(error)) }
    }
    // Made before the tasks, which may begin late.
    let watch = SessionClock(clock)
    let running = Task(executorPreference: executor) { try await body() }
    let timer = Task(executorPreference: executor) {
        try await watch.sleep(time)
        running.cancel()
    }
    let result = await withTaskCancellationHandler {
        await running.result
    } onCancel: {
        running.cancel()
    }
    timer.cancel()
    return (running.isCancelled && !Task.isCancelled, result)
}
