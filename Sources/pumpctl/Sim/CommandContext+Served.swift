import DescriptorIO
import Glibc
import LineProtocol
import Terminal

extension CommandContext {
    /// Runs a command of the user until it ends. If the task is cancelled, sends the command the signal that has ended
    /// the work of this program, or SIGTERM without a signal.
    ///
    /// - Parameters:
    ///   - words: The command and its arguments.
    ///   - variables: Additional variables for the command's environment.
    ///   - isQuiet: Whether the command's standard output is redirected to standard error, because this program needs
    ///     standard output itself.
    ///   - grace: The time from the cancellation of the task until the command is killed; nil to wait for its end.
    ///   - hint: The hint if the command can't be started.
    /// - Returns: The command's exit status, or 128 plus the number of the signal that ended the command; 126 or 127,
    ///   as in env(1), if the command could not be started.
    func runServed(
        _ words: [String], with variables: [String: String], isQuiet: Bool = false, grace: Duration? = nil,
        hint: String
    ) async throws -> Int32 {
        let process: ServedCommand
        do throws(ServedCommand.StartFailure) { process = try ServedCommand(words, with: variables, isQuiet) } catch {
            error.report(words, hint: hint, on: output)
            return error.exitStatus
        }
        return try await withTaskCancellationHandler {
            try await process.end(on: loop) { [work] in
                // Ctrl-C on the terminal has reached the command too, so it is not sent again.
                let signal = (work.exitStatus ?? 128 + SIGTERM) - 128
                return signal == SIGINT && tcgetpgrp(STDIN_FILENO) == getpgrp() ? nil : signal
            }
        } onCancel: {
            guard let grace else { return }
            Task(executorPreference: loop) {
                try await EventLoopClock(loop).sleep(for: grace)
                process.kill()
            }
        }
    }
}

extension ServedCommand.StartFailure {
    /// Reports that a command can't be started.
    func report(_ words: [String], hint: String, on output: Output) {
        output.note("pumpctl: \(words[0].printable()): \(String(cString: strerror(errno)))", hint: hint)
    }
}
