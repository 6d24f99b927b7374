public import DescriptorIO
internal import Glibc
internal import Synchronization

/// Standard output, or what stands for it, up to the first write that fails: what follows would be results with a gap.
public final class ResultStream: Sendable {
    private struct State {
        var failure: Int32?
        var onFailure: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let put: @Sendable (String) -> Int32?

    /// Standard output, to which nothing was written yet.
    public convenience init() { self.init { StreamWriter.output.write($0) } }

    /// What takes results in place of standard output.
    ///
    /// - Parameter put: Writes text whole; returns the errno where it can't.
    package init(_ put: @escaping @Sendable (String) -> Int32?) { self.put = put }

    /// Why standard output took no more, as an errno: EPIPE where its reader has gone. Nil as long as all was written.
    public var failure: Int32? { state.withLock { $0.failure } }

    /// Writes `text` whole, unless a write has failed.
    public func write(_ text: String) {
        guard failure == nil, let errno = put(text) else { return }
        fail(errno)
    }

    /// Fails as soon as the reader of standard output has gone, and not only at the next write.
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

    /// Calls `body` once standard output takes no more; at once where that is so. In place of what was to be called before.
    public func onFailure(_ body: @escaping @Sendable () -> Void) {
        let hasFailed = state.withLock { state in
            state.onFailure = state.failure == nil ? body : nil
            return state.failure != nil
        }
        if hasFailed { body() }
    }
}
