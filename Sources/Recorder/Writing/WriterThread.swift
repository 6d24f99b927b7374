internal import Glibc
internal import Synchronization

/// The thread of a writer, at lower priority than all others.
final class WriterThread: Sendable {
    private struct State {
        var tally: RecorderTally?
        var waiters: [UnsafeContinuation<RecorderTally, Never>] = []
    }

    private let state = Mutex(State())

    /// Starts the thread, which ends when the writer's queue is closed.
    init(_ writer: Writer) {
        let body = ThreadBody { [self] in
            Scheduling.stepBack()
            var writer = writer
            end(with: writer.run())
        }
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                // Leave signals to the threads that handle them.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(body).toOpaque())
        precondition(error == 0, "no thread left")
        pthread_detach(thread)
    }

    private func end(with tally: RecorderTally) {
        let waiters = state.withLock { state in
            state.tally = tally
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: tally) }
    }

    /// Waits for the end of the thread, and returns the numbers of written and lost records.
    func tally() async -> RecorderTally {
        await withUnsafeContinuation { continuation in
            let tally = state.withLock { state in
                if state.tally == nil { state.waiters.append(continuation) }
                return state.tally
            }
            if let tally { continuation.resume(returning: tally) }
        }
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
