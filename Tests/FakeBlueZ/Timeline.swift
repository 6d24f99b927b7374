/// Delays and scheduled actions, measured by a test's clock.
@Radio
final class Timeline {
    private let sleep: @Sendable (Duration) async throws -> Void

    nonisolated init(_ clock: some Clock<Duration>) {
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Waits; returns immediately if the duration is zero.
    ///
    /// - Throws: `CancellationError`.
    func pause(_ duration: Duration) async throws {
        if duration > .zero { try await sleep(duration) }
        try Task.checkCancellation()
    }

    /// Calls `body` later, unless the task is cancelled.
    func after(_ duration: Duration, _ body: @escaping @Radio () async -> Void) -> Task<Void, Never> {
        Radio.begin {
            guard (try? await self.pause(duration)) != nil else { return }
            await body()
        }
    }
}
