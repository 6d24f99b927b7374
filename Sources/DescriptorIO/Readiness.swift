internal import Glibc
internal import Synchronization

extension EventLoop {
    /// Waits until `descriptor` is ready to be read or written, or until `deadline`.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - events: POLLIN, POLLOUT or both.
    ///   - deadline: The latest time at which to return; nil for none.
    /// - Returns: The reported events, in the bits of poll(2); 0 at the deadline.
    /// - Throws: `cancelled` if the task is cancelled.
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

/// A single wait, which runs on the loop's thread.
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

    /// Ends the wait, on the loop's thread. Later results are ignored.
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
