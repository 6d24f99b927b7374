import DescriptorIO
import Glibc
import LineProtocol
import Terminal

extension CommandContext {
    /// Runs a command of the user's to its end.
    ///
    /// - Parameters:
    ///   - variables: What its environment has in addition.
    ///   - isQuiet: Whether its standard output is the standard error of this program, whose own is for something else.
    ///   - grace: How long it may take to end once it is told to, before it is killed; nil for as long as it takes.
    ///   - hint: What to do where it can't be started.
    /// - Returns: Its exit status, or why it could not be started as env(1) has it.
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
                // Who has typed Ctrl-C has sent it to the command too.
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
    /// Says why a command was not started.
    func report(_ words: [String], hint: String, on output: Output) {
        output.note("pumpctl: \(words[0].printable()): \(String(cString: strerror(errno)))", hint: hint)
    }
}
