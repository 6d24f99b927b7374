public import DescriptorIO
internal import Glibc
internal import Synchronization

/// A writer of results to standard output or a substitute. It stops at the first failed write, since later results
/// would follow a gap.
public final class ResultStream: Sendable {
    private struct State {
        var failure: Int32?
        var onFailure: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let put: @Sendable (String) -> Int32?

    /// Creates a stream on standard output.
    public convenience init() { self.init { StreamWriter.output.write($0) } }

    /// Creates a stream on a substitute for standard output.
    ///
    /// - Parameter put: Writes the whole text; returns the errno of a failure.
    package init(_ put: @escaping @Sendable (String) -> Int32?) { self.put = put }

    /// The errno of the first failure: EPIPE if the reader has gone. nil while nothing has failed.
    public var failure: Int32? { state.withLock { $0.failure } }

    /// Writes the whole of `text`, unless an earlier write has failed.
    public func write(_ text: String) {
        guard failure == nil, let errno = put(text) else { return }
        fail(errno)
    }

    /// Makes the stream fail as soon as the reader of standard output has gone, or the terminal is closed, not only
    /// at the next write. Has no effect on a file.
    ///
    /// - Parameter loop: The loop that waits for the hang-up.
    public func failWithoutReader(on loop: EventLoop) {
        Task(executorPreference: loop) {
            if await StreamWriter.output.losesReader(on: loop) { self.fail(EPIPE) }
        }
    }

    private func fail(_ errno: Int32) {
        let body = state.withLock { state in
            state.failure = state.failure ?? errno
            defer { state.onFailure = nil }
            return state.onFailure
        }
        body?()
    }

    /// Calls `body` once when the stream fails, on the thread that has found the failure, or at once if the stream has
    /// failed already. Replaces the previous callback.
    public func onFailure(_ body: @escaping @Sendable () -> Void) {
        let hasFailed = state.withLock { state in
            state.onFailure = state.failure == nil ? body : nil
            return state.failure != nil
        }
        if hasFailed { body() }
    }
}
