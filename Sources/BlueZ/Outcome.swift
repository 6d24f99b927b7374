internal import Synchronization

/// A result that is there at once or comes later, for one who waits.
///
/// Whoever waits joins after the work has begun, so that it can't be missed. Waiting and finishing may be done on any
/// thread: the operation of `withTaskCancellationHandler` leaves the actor in whose name this waits.
final class Outcome<Value: Sendable>: Sendable {
    private typealias Continuation = UnsafeContinuation<Result<Value, BLEError>, Never>

    private enum State {
        case pending
        case awaited(Continuation)
        case finished(Result<Value, BLEError>)
    }

    private let state = Mutex(State.pending)

    init() {}

    var isFinished: Bool { state.withLock { if case .finished = $0 { true } else { false } } }

    /// Hands over the result. Only the first one counts; returns whether it is that.
    @discardableResult
    func finish(_ result: Result<Value, BLEError>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            switch state {
            case .pending:
                state = .finished(result)
                return (true, nil as Continuation?)
            case .awaited(let continuation):
                state = .finished(result)
                return (true, continuation)
            case .finished: return (false, nil)
            }
        }
        continuation?.resume(returning: result)
        return isFirst
    }

    /// Waits for the result, or until the task is cancelled, by which it is finished too.
    ///
    /// - Precondition: One waits at a time.
    func wait(activity: String) async throws(BLEError) -> Value {
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let result = state.withLock { state in
                    if case .finished(let result) = state { return Optional(result) }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            finish(.failure(BLEError(.cancelled, activity: activity)))
        }.get()
    }
}
