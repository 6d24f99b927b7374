import Synchronization

/// Ends a run when another pumpctl asks for OFF: what the run has not sent, it sends no more.
final class RunStop: Sendable {
    private struct State {
        var isTaken = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Whether OFF was asked for.
    var wasTaken: Bool { state.withLock { $0.isTaken } }

    /// Sets what ends the run; it is ended at once where OFF was asked for before.
    func set(_ end: @escaping @Sendable () -> Void) {
        let isTaken = state.withLock { state in
            state.end = end
            return state.isTaken
        }
        if isTaken { end() }
    }

    /// OFF was asked for.
    func take() {
        let end = state.withLock { state in
            state.isTaken = true
            return state.end
        }
        end?()
    }
}
