/// Runs `work` on a thread that may block, instead of the event loop's thread. If the caller is cancelled, the task of
/// `work` is cancelled too, but its end is still awaited.
package func aside<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let task = Task(executorPreference: globalConcurrentExecutor) { try work() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
