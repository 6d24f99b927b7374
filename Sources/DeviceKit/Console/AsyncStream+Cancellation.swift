extension AsyncStream where Element: Sendable {
    /// The next element, also where the task is cancelled: to be cancelled while it waits would end the stream, and what
    /// comes behind that would be lost.
    ///
    /// - Parameter executor: What it waits on.
    package func nextInSpiteOfCancellation(on executor: any TaskExecutor) async -> Element? {
        await Task(executorPreference: executor) {
            var iterator = makeAsyncIterator()
            return await iterator.next()
        }.value
    }
}
