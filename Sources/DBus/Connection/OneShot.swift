/// A result that is available now or later, for one waiter or one handler.
///
/// The waiter may join after the operation has begun or finished: it can't miss the result.
final class OneShot<Value: Sendable>: @unchecked Sendable {
    // @unchecked: all accesses are on the thread of the connection's loop.

    typealias Outcome = Result<Value, DBusError>

    private var outcome: Outcome?
    private var continuation: UnsafeContinuation<Outcome, Never>?
    private var handler: (@Sendable (Outcome) -> Void)?

    init(handler: (@Sendable (Outcome) -> Void)? = nil) { self.handler = handler }

    var isFinished: Bool { outcome != nil }

    func wait(_ continuation: UnsafeContinuation<Outcome, Never>) {
        if let outcome { continuation.resume(returning: outcome) } else { self.continuation = continuation }
    }

    /// Delivers the outcome to the waiter or the handler. Later outcomes are ignored.
    func finish(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        continuation?.resume(returning: outcome)
        continuation = nil
        let handler = handler
        self.handler = nil
        handler?(outcome)
    }
}
