/// Delays and scheduled actions, measured by a test's clock.
@Radio
final class Timeline {
    private let sleep: @Sendable (Duration) async throws -> Void

    nonisolated init(_ clock: some Clock<Duration>) {
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Waits; returns immediately if the duration is zero.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func pause(_ duration: Duration) async throws {
        if duration > .zero { try await sleep(duration) }
        try Task.checkCancellation()
    }

    /// Calls `body` after a time, unless the returned task is cancelled before.
    func after(_ duration: Duration, _ body: @escaping @Radio () async -> Void) -> Task<Void, Never> {
        Radio.begin {
            guard (try? await self.pause(duration)) != nil else { return }
            await body()
        }
    }
}
