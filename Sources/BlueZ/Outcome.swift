internal import Synchronization

/// A result that is available now or later, for one waiter.
///
/// The waiter may join after the operation has begun or finished: it can't miss the result. The methods may be called
/// on any thread: `withTaskCancellationHandler` runs its operation outside of the caller's actor.
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

    /// Delivers the result to the waiter. Later results are ignored.
    ///
    /// - Returns: Whether this is the first result.
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

    /// Waits for the result, and returns the value or throws the error. Cancelling the task finishes the outcome with
    /// `cancelled`. `activity` is the operation, for this error.
    ///
    /// - Precondition: There is one waiter at a time.
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
