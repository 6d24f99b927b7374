internal import CDescriptorIO
internal import Glibc

/// The exit status of a child process, by the shell's convention.
package enum ProcessEnd {
    /// Waits until a child has ended, and reaps it. Returns its exit status, or 128 plus the signal's number if a
    /// signal ended it.
    ///
    /// Waits on a pidfd (Linux 5.3) and not for SIGCHLD, which would be lost if any thread does not block it.
    ///
    /// - Parameters:
    ///   - process: The process ID of the child.
    ///   - loop: The loop that waits.
    ///   - onEnd: Called after the child has ended, and before its process ID can be reused.
    /// - Throws: `cancelled` if the task is cancelled, in which case the child still exists; or `system`.
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

    /// Reaps a child once it has ended, without waiting for that. Otherwise an ended child would remain as a zombie for
    /// as long as this process runs.
    ///
    /// - Parameters:
    ///   - process: The process ID of the child.
    ///   - loop: The loop that waits.
    package static func reapLater(_ process: Int32, on loop: EventLoop = .shared) {
        Task(executorPreference: loop) { _ = try? await status(of: process, on: loop) }
    }

    /// Reaps a child and returns its status. Blocks the thread until the child has ended.
    package static func reap(_ process: Int32) -> Int32 {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}
