import DescriptorIO
import DeviceKit

extension CommandContext {
    /// Serves something, such as a simulated device, while `body` uses it.
    ///
    /// Serving continues until `body` returns, even after a signal: `body` may need it to finish.
    ///
    /// - Parameters:
    ///   - serve: Serves until its task is cancelled. Calls `onReady` once `body` can begin.
    ///   - body: Called with the first value that `onReady` received.
    /// - Throws: The error of `body`; or if `body` was not called, the error of `serve` or `CancellationError`.
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
