internal import Synchronization

/// Ends what a program does with a device when another one asks for OFF: what it has not sent, it sends no more.
///
/// ```swift
/// let stop = OffStop()
/// let held = await HeldLink.open(link, of: .pump, onStop: stop.take) { _ in }
/// try await stop.run { try await run.run(pump) }
/// if stop.wasTaken { print("somebody else has switched the pump off") }
/// ```
public final class OffStop: Sendable {
    private struct State {
        var isTaken = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// OFF was not asked for yet.
    public init() {}

    /// Whether OFF was asked for.
    public var wasTaken: Bool { state.withLock { $0.isTaken } }

    /// OFF was asked for: what runs is cancelled.
    public func take() {
        let end = state.withLock { state in
            state.isTaken = true
            return state.end
        }
        end?()
    }

    /// Runs `body` in a task that ``take()`` cancels; at once where OFF was asked for before.
    ///
    /// - Parameter executor: What the task runs on; nil for the global one.
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
