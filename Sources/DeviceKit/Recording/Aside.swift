/// Runs `work` on a thread that may wait, and not on that of the event loop. Where the caller is cancelled, so is the task
/// of `work`, which is waited for all the same.
package func aside<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let task = Task(executorPreference: globalConcurrentExecutor) { try work() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
