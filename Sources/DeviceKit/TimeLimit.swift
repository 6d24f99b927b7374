internal import LineProtocol

/// Runs `body`, and cancels it after `time`, or if the caller is cancelled. If `time` is nil, there is no limit.
///
/// ```swift
/// let (isTimeUp, result) = await withTimeLimit(.seconds(10)) { try await console.run(over: link) }
/// ```
///
/// - Parameters:
///   - time: The limit; nil for none.
///   - clock: The clock that measures the time.
///   - executor: The executor of `body` if there is a limit; nil for the global executor.
///   - body: The work, which should end soon after its task is cancelled.
/// - Returns: Whether the limit cancelled `body`, and the result of `body`. `isTimeUp` is false if the caller's task
///   was cancelled.
public func withTimeLimit(
    _ time: Duration?, clock: any Clock<Duration> = ContinuousClock(), on executor: (any TaskExecutor)? = nil,
    _ body: @escaping @Sendable () async throws -> Void
) async -> (isTimeUp: Bool, result: Result<Void, any Error>) {
    guard let time else {
        do { return (false, .success(try await body())) } catch { return (false, .failure(error)) }
    }
    // Created here, so that the limit counts from this call: the tasks may start late.
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
