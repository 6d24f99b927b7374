import DescriptorIO
import Glibc
import Synchronization

/// A command of the user's that runs while something is served to it. Its standard streams are this program's, but for a quiet
/// one, whose standard output is this program's standard error.
final class ServedCommand: Sendable {
    private let process: pid_t
    private let hasEnded = Mutex(false)

    /// Why a command could not be started, as env(1) has it: 127 where there is none of that name, else 126.
    struct StartFailure: Error {
        var errno: CInt
        var exitStatus: Int32 { errno == ENOENT ? 127 : 126 }
    }

    /// Starts a command, which is looked for on PATH, with variables in its environment that may be there already.
    init(_ words: [String], with variables: [String: String], _ isQuiet: Bool = false) throws(StartFailure) {
        var start = ProgramStart(words[0], words)
        start.variables = variables
        if isQuiet { start.descriptors = [STDOUT_FILENO: STDERR_FILENO] }
        do throws(DescriptorError) { process = try start.start() } catch {
            throw StartFailure(errno: error.errno ?? EIO)
        }
    }

    /// Fails where a command can't be started, as far as that shows before it is.
    static func check(_ words: [String]) throws(StartFailure) {
        do throws(DescriptorError) { try ProgramStart(words[0], words).check() } catch {
            throw StartFailure(errno: error.errno ?? EIO)
        }
    }

    /// Ends it, if it has not ended.
    func kill() { hasEnded.withLock { if !$0 { _ = Glibc.kill(process, SIGKILL) } } }

    /// Waits until it has ended, whatever becomes of the task. Where that is cancelled, `signal` is sent to it, if any.
    ///
    /// - Returns: Its exit status; 128 and the number of the signal that ended it.
    func end(on loop: EventLoop, signal: @escaping @Sendable () -> CInt?) async throws -> Int32 {
        // A task of its own, which nobody cancels: the command may need what is served to come to its end.
        let waiting = Task(executorPreference: loop) {
            // Before the number may be another process's, which a signal would end.
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
