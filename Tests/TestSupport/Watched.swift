internal import Synchronization

/// The deadline for events that come immediately unless something hangs. It is generous for the sake of busy machines.
public let patience = Duration.seconds(120)

/// A value that tests can wait on. Nothing polls: each change wakes the waiting tasks.
public final class Watched<State: Sendable>: Sendable {
    private struct Inner {
        var state: State
        var watchers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    private let inner: Mutex<Inner>

    public init(_ state: State) { inner = Mutex(Inner(state: state)) }

    /// The current value.
    public var state: State { inner.withLock { $0.state } }

    /// Changes the value, and wakes the waiting tasks.
    @discardableResult
    public func update<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value {
        inner.withLock { inner in
            defer { for watcher in inner.watchers.values { watcher.yield() } }
            return body(&inner.state)
        }
    }

    /// Calls `find` now and after each change, until it returns a value. `find` may also change the state, for example
    /// to take the value out of it.
    ///
    /// - Parameter what: A description of the awaited event, for the error message.
    /// - Throws: ``NotInTime`` after `deadline` or if the task is cancelled; or the error of `find`.
    public func wait<Value: Sendable>(
        for what: String, within deadline: Duration = patience, _ find: @Sendable (inout State) throws -> Value?
    ) async throws -> Value {
        let (changes, watcher) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = inner.withLock { inner in
            inner.lastID += 1
            inner.watchers[inner.lastID] = watcher
            return inner.lastID
        }
        let timer = Task {
            try await Task.sleep(for: deadline)
            watcher.finish()
        }
        defer {
            timer.cancel()
            inner.withLock { $0.watchers[id] = nil }
        }
        watcher.yield()
        for await _ in changes {
            if let value = try inner.withLock({ try find(&$0.state) }) { return value }
        }
        throw NotInTime(what: what, state: "\(state)")
    }
}

/// The awaited event did not happen in time.
public struct NotInTime: Error, CustomStringConvertible {
    public var what: String
    public var state: String

    public init(what: String, state: String) {
        self.what = what
        self.state = state
    }

    public var description: String { "\(what) did not come in time; there was: \(state)" }
}
