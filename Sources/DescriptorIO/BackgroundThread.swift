internal import CDescriptorIO
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
        // From the thread's first moment on: no signal may reach it before.
        var blocked = sigset_t()
        sigfillset(&blocked)
        for signal in Self.ownSignals { sigdelset(&blocked, signal) }
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let error = cdescriptorio_start_thread(
            &thread, &blocked,
            { pointer in
                let work = Unmanaged<Work>.fromOpaque(pointer!)
                work.takeUnretainedValue().body()
                // Not before: a thread that frees memory is given a part of the heap for itself, by four system calls.
                work.release()
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
