internal import Synchronization

/// The deadline of waits for events that come at once unless something hangs. It is generous, for busy machines.
public let patience = Duration.seconds(120)

/// A value that a test waits for to become what it should be. Nothing here sleeps: each change wakes those who wait.
public final class Watched<State: Sendable>: Sendable {
    private struct Inner {
        var state: State
        var watchers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    private let inner: Mutex<Inner>

    public init(_ state: State) { inner = Mutex(Inner(state: state)) }

    /// The value as it is now.
    public var state: State { inner.withLock { $0.state } }

    /// Changes the value, and lets those who wait look at it.
    @discardableResult
    public func update<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value {
        inner.withLock { inner in
            defer { for watcher in inner.watchers.values { watcher.yield() } }
            return body(&inner.state)
        }
    }

    /// Waits until `find` finds something, which it may also take out of the value.
    ///
    /// - Parameter what: What is waited for, for the message when it does not come.
    /// - Throws: ``NotInTime`` after `deadline`.
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

/// What was waited for did not come.
public struct NotInTime: Error, CustomStringConvertible {
    public var what: String
    public var state: String

    public init(what: String, state: String) {
        self.what = what
        self.state = state
    }

    public var description: String { "\(what) did not come in time; there was: \(state)" }
}
