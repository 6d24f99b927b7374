internal import Glibc

/// A thread that takes no signals: those are for the threads that wait for them.
///
/// A thread that leaves a signal unblocked would have the process ended by it, though another thread waits to attend to it.
package struct BackgroundThread: Sendable {
    private let thread: pthread_t

    /// Signals that a thread causes itself: a crash, a write that nobody reads, a terminal of another job.
    private static let ownSignals = [
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU,
    ]

    /// Starts a thread that runs `body`. Call ``detach()`` or ``join()`` once.
    ///
    /// - Throws: If the system has no thread left.
    package init(_ body: @escaping @Sendable () -> Void) throws(DescriptorError) {
        final class Work: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var (blocked, before) = (sigset_t(), sigset_t())
        sigfillset(&blocked)
        for signal in Self.ownSignals { sigdelset(&blocked, signal) }
        // Before the thread exists, which inherits them: no signal may reach it first.
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { pointer in
                Unmanaged<Work>.fromOpaque(pointer!).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard error == 0 else {
            work.release()
            throw DescriptorError(errno: error, call: "pthread_create")
        }
        self.thread = thread
    }

    /// Leaves the thread to itself.
    package func detach() { pthread_detach(thread) }

    /// Waits until the thread has ended.
    package func join() { pthread_join(thread, nil) }

    /// Sends a signal to the thread alone.
    package func send(signal: CInt) { pthread_kill(thread, signal) }
}
