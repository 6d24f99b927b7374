import DescriptorIO
import DeviceKit

extension CommandContext {
    /// Serves something while `body` uses it.
    ///
    /// What is served outlives a signal: `body` may need it to come to its end.
    ///
    /// - Parameters:
    ///   - serve: Serves until it is cancelled, and calls `onReady` once that can be used.
    ///   - body: Called with what `onReady` was first called with.
    /// - Throws: Why nothing could be served, or what `body` throws.
    func serving<Ready: Sendable, Value>(
        _ serve: @escaping @Sendable (_ onReady: @escaping @Sendable (Ready) -> Void) async throws -> Void,
        to body: (Ready) async throws -> Value
    ) async throws -> Value {
        let (readiness, ready) = AsyncStream<Ready>.makeStream()
        let serving = Task(executorPreference: loop) {
            defer { ready.finish() }
            try await serve { ready.yield($0) }
        }
        return try await withCleanup({
            serving.cancel()
            _ = await serving.result
        }) {
            guard let first = await readiness.first(where: { _ in true }) else {
                try Task.checkCancellation()
                try await serving.value
                throw CancellationError()
            }
            return try await body(first)
        }
    }
}
