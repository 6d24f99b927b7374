import DescriptorIO
import Glibc
import Synchronization

/// A command of the user that runs while something is served to it. The command uses this program's standard streams,
/// except that the standard output of a quiet command is this program's standard error.
final class ServedCommand: Sendable {
    private let process: pid_t
    private let hasEnded = Mutex(false)

    /// The error of a command that could not be started, with the exit status of env(1): 127 if there is no such
    /// program, otherwise 126.
    struct StartFailure: Error {
        var errno: CInt
        var exitStatus: Int32 { errno == ENOENT ? 127 : 126 }
    }

    /// Starts a command, which is looked up on PATH. `variables` are added to the command's environment, and replace
    /// variables of the same name.
    init(_ words: [String], with variables: [String: String], _ isQuiet: Bool = false) throws(StartFailure) {
        var start = ProgramStart(words[0], words)
        start.variables = variables
        if isQuiet { start.descriptors = [STDOUT_FILENO: STDERR_FILENO] }
        do throws(DescriptorError) { process = try start.start() } catch {
            throw StartFailure(errno: error.errno ?? EIO)
        }
    }

    /// Checks whether a command can be started, as far as possible without starting it.
    static func check(_ words: [String]) throws(StartFailure) {
        do throws(DescriptorError) { try ProgramStart(words[0], words).check() } catch {
            throw StartFailure(errno: error.errno ?? EIO)
        }
    }

    /// Kills the command, if it has not ended.
    func kill() { hasEnded.withLock { if !$0 { _ = Glibc.kill(process, SIGKILL) } } }

    /// Waits until the command has ended, even if the task is cancelled. On cancellation, sends the command the signal
    /// that `signal` returns; none if `signal` returns nil.
    ///
    /// - Returns: The exit status, or 128 plus the number of the signal that ended the command.
    func end(on loop: EventLoop, signal: @escaping @Sendable () -> CInt?) async throws -> Int32 {
        // A task of its own, which is not cancelled: the command may go on after the signal.
        let waiting = Task(executorPreference: loop) {
            // Set `hasEnded` before the process ID can be reused: a later signal would reach another process.
            try await ProcessEnd.status(of: self.process, on: loop) { self.hasEnded.withLock { $0 = true } }
        }
        return try await withTaskCancellationHandler {
            try await waiting.value
        } onCancel: {
            hasEnded.withLock { hasEnded in
                if !hasEnded, let signal = signal() { _ = Glibc.kill(process, signal) }
            }
        }
    }
}
