extension CommandContext {
    /// Runs `body` to its end, or until `time` is over; nil for no limit. That its time was up is no failure.
    func run(for time: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let time else { return try await body() }
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
        if running.isCancelled, !Task.isCancelled { return }
        try result.get()
    }
}
