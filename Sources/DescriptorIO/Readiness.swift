internal import Glibc
internal import Synchronization

extension EventLoop {
    /// Waits until `descriptor` can be read or written, or `deadline` has come.
    ///
    /// - Parameter events: POLLIN, POLLOUT or both.
    /// - Returns: What `poll` reported; 0 where the deadline came first.
    /// - Throws: `cancelled` when the task is.
    package func waitUntilReady(
        _ descriptor: CInt, events: CShort, deadline: ContinuousClock.Instant? = nil
    ) async throws(DescriptorError) -> CShort {
        let wait = ReadinessWait(loop: self)
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                execute { wait.begin(descriptor, events: events, deadline: deadline, continuation) }
            }
        } onCancel: {
            execute { wait.finish(.failure(DescriptorError(.cancelled, call: "poll"))) }
        }.get()
    }
}

/// One wait; all of it happens on the loop's thread.
private final class ReadinessWait: PollHandler {
    private struct State {
        var continuation: UnsafeContinuation<Result<CShort, DescriptorError>, Never>?
        var token: PollToken?
        var timer: TimerQueue.Token?
        var result: Result<CShort, DescriptorError>?
    }

    private let loop: EventLoop
    private let state = Mutex(State())

    init(loop: EventLoop) { self.loop = loop }

    func begin(
        _ descriptor: CInt, events: CShort, deadline: ContinuousClock.Instant?,
        _ continuation: UnsafeContinuation<Result<CShort, DescriptorError>, Never>
    ) {
        let result = state.withLock { state in
            if state.result == nil {
                state.continuation = continuation
                state.token = loop.watch(descriptor, events: events, handler: self)
                state.timer = deadline.map { loop.schedule(at: $0) { self.finish(.success(0)) } }
            }
            return state.result
        }
        if let result { continuation.resume(returning: result) }
    }

    func ready(_ events: CShort) { finish(.success(events)) }

    func finish(_ result: Result<CShort, DescriptorError>) {
        let continuation = state.withLock { state in
            guard state.result == nil else { return nil as UnsafeContinuation<Result<CShort, DescriptorError>, Never>? }
            state.result = result
            if let token = state.token { loop.unwatch(token) }
            if let timer = state.timer { loop.cancel(timer) }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }
}
