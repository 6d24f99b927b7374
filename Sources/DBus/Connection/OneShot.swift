/// A result that is there at once or comes later, for one who waits or for a handler.
///
/// Whoever waits joins after the work has begun, so that it can't be missed.
final class OneShot<Value: Sendable>: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its connection's loop only.

    typealias Outcome = Result<Value, DBusError>

    private var outcome: Outcome?
    private var continuation: UnsafeContinuation<Outcome, Never>?
    private var handler: (@Sendable (Outcome) -> Void)?

    init(handler: (@Sendable (Outcome) -> Void)? = nil) { self.handler = handler }

    var isFinished: Bool { outcome != nil }

    func wait(_ continuation: UnsafeContinuation<Outcome, Never>) {
        if let outcome { continuation.resume(returning: outcome) } else { self.continuation = continuation }
    }

    /// Hands over the outcome; only the first one counts.
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
