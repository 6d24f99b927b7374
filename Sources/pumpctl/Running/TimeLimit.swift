import LineProtocol

extension CommandContext {
    /// Runs `body`, for `time` at most.
    ///
    /// - Returns: Whether it came to its end by itself; that its time was up is no failure.
    @discardableResult
    func run(for time: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        guard let time else {
            try await body()
            return true
        }
        let running = Task(executorPreference: loop) { try await body() }
        let timer = Task(executorPreference: loop) { [clock] in
            try await clock.sleep(for: time)
            running.cancel()
        }
        let result = await withTaskCancellationHandler {
            await running.result
        } onCancel: {
            running.cancel()
        }
        timer.cancel()
        if running.isCancelled, !Task.isCancelled {
            if case .failure(let error) = result, error is Failure || error is RescueStoreError { throw error }
            return false
        }
        try result.get()
        return true
    }
}
