/// Runs `work` on a thread that may block, instead of the event loop's thread. Cancelling the caller cancels the task
/// of `work`, and this function still waits for the end of `work`.
package func aside<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let task = Task(executorPreference: globalConcurrentExecutor) { try work() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
