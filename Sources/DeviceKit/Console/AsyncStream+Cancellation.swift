extension AsyncStream where Element: Sendable {
    /// Returns the next element, even if the current task is cancelled. Returns nil once the stream has ended.
    /// Cancelling a task that waits in `next()` would end the stream and lose all later elements.
    ///
    /// - Parameter executor: The executor of the task that waits.
    package func nextInSpiteOfCancellation(on executor: any TaskExecutor) async -> Element? {
        await Task(executorPreference: executor) {
            var iterator = makeAsyncIterator()
            return await iterator.next()
        }.value
    }
}
