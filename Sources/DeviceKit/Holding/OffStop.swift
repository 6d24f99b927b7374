internal import Synchronization

/// Cancels the work of a program on a device when another program requests OFF, so that the work sends nothing more.
///
/// ```swift
/// let stop = OffStop()
/// let held = await HeldLink.open(link, of: .pump, onStop: stop.take) { _ in }
/// try await stop.run { try await run.run(pump) }
/// if stop.wasTaken { print("another program has requested OFF") }
/// ```
public final class OffStop: Sendable {
    private struct State {
        var isTaken = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Creates a stop before any request for OFF.
    public init() {}

    /// Whether OFF was requested.
    public var wasTaken: Bool { state.withLock { $0.isTaken } }

    /// Records a request for OFF, and cancels the running work.
    public func take() {
        let end = state.withLock { state in
            state.isTaken = true
            return state.end
        }
        end?()
    }

    /// Runs `body` in a task that ``take()`` cancels. If OFF was requested before, the task is cancelled at once.
    ///
    /// - Parameters:
    ///   - executor: The executor of the task; nil for the global executor.
    ///   - body: The work.
    /// - Throws: The error of `body`.
    public func run(
        on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let running = Task(executorPreference: executor) { try await body() }
        let isTaken = state.withLock { state in
            state.end = { running.cancel() }
            return state.isTaken
        }
        if isTaken { running.cancel() }
        defer { state.withLock { $0.end = nil } }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
    }
}
