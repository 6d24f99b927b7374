internal import CDescriptorIO
internal import Glibc

/// A child process that has ended, as a shell tells its status.
package enum ProcessEnd {
    /// Waits until a child has ended, and takes its status: 128 and the signal's number where one ended it.
    ///
    /// By a descriptor of the process (Linux 5.3) rather than SIGCHLD, which any thread that does not block it would throw away.
    ///
    /// - Parameter onEnd: Called once it has ended, and before its number may become another process's.
    /// - Throws: Also where the task is cancelled; the child is still there then.
    package static func status(
        of process: Int32, on loop: EventLoop, onEnd: () -> Void = {}
    ) async throws(DescriptorError) -> Int32 {
        let descriptor = cdescriptorio_pidfd_open(process)
        guard descriptor >= 0 else { throw .last("pidfd_open") }
        defer { close(descriptor) }
        _ = try await loop.waitUntilReady(descriptor, events: CShort(POLLIN))
        onEnd()
        return reap(process)
    }

    /// Takes the status of a child, once it has ended: until then the thread waits.
    package static func reap(_ process: Int32) -> Int32 {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}
