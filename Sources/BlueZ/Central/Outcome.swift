internal import DescriptorIO

/// A result that is there at once or comes later, for one who waits.
///
/// Whoever waits joins after the work has begun, so that it can't be missed.
final class Outcome<Value: Sendable>: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its loop only.

    private let loop: EventLoop
    private var result: Result<Value, BLEError>?
    private var continuation: UnsafeContinuation<Result<Value, BLEError>, Never>?

    init(on loop: EventLoop) { self.loop = loop }

    /// Hands over the result; only the first one counts.
    func finish(_ result: Result<Value, BLEError>) {
        guard self.result == nil else { return }
        self.result = result
        continuation?.resume(returning: result)
        continuation = nil
    }

    /// Waits for the result, or until the task is cancelled.
    func wait(activity: String) async throws(BLEError) -> Value {
        let cancelled = BLEError(.cancelled, activity: activity)
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if let result { return continuation.resume(returning: result) }
                self.continuation = continuation
                if Task.isCancelled { finish(.failure(cancelled)) }
            }
        } onCancel: {
            loop.execute { self.finish(.failure(cancelled)) }
        }.get()
    }
}
