internal import CDescriptorIO
internal import Glibc

/// A thread that blocks signals, so that they reach the threads that handle them.
///
/// A signal may be delivered to any thread that does not block it, and would then end the process even if another
/// thread waits for it.
package struct BackgroundThread: Sendable {
    private let thread: pthread_t

    /// The signals that a thread causes itself: by a crash, by a write that fails, or by using the terminal while the
    /// program is a background job.
    private static let ownSignals = [
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU,
    ]

    /// Starts a thread that runs `body`. Call ``detach()`` or ``join()`` once.
    ///
    /// - Throws: ``DescriptorError`` if the system has no thread left.
    package init(_ body: @escaping @Sendable () -> Void) throws(DescriptorError) {
        final class Work: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        // Block the signals from the start: if the thread blocked them itself, a signal could reach it before.
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
                // Release only after the body: the first free on a thread makes malloc create a heap arena for the
                // thread, by four system calls.
                work.release()
                return nil
            }, work.toOpaque())
        guard error == 0 else {
            work.release()
            throw DescriptorError(errno: error, call: "pthread_create")
        }
        self.thread = thread
    }

    /// Detaches the thread, which then releases its resources when it ends.
    package func detach() { pthread_detach(thread) }

    /// Waits until the thread has ended.
    package func join() { pthread_join(thread, nil) }

    /// Sends a signal to the thread alone.
    package func send(signal: CInt) { pthread_kill(thread, signal) }
}
