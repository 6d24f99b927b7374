import Diagnosis
import Glibc
import LineProtocol
import Terminal

/// The commands that `doctor --fix` offers.
struct RemedyOffers {
    /// The words of each command, with `sudo` if this user needs it.
    let commands: [[String]]

    /// Collects the commands of remedies, each once.
    init(of remedies: [Remedy], asRoot isRoot: Bool = geteuid() == 0) {
        var known: Set<RootCommand> = []
        commands = remedies.compactMap { remedy in
            guard case .command(let command, _) = remedy, known.insert(command).inserted else { return nil }
            return (isRoot ? [] : ["sudo"]) + command.words
        }
    }

    /// Shows each command, and runs it if the user types `y`. The end of input ends the offers.
    ///
    /// - Throws: `DescriptorError` with `cancelled`, or `CancellationError`, after Ctrl-C.
    func make(in context: CommandContext) async throws {
        var hasRun = false
        for words in commands {
            let command = words.map(\.asWord).joined(separator: " ")
            let answer: String?
            do {
                answer = try await StandardInput.answer(to: "run '\(command)'? [y/N] ", on: context.loop)
            } catch {
                StreamWriter.error.write("\n")
                throw error
            }
            guard let answer else {
                StreamWriter.error.write("\n")
                break
            }
            guard answer == "y\n" else { continue }
            hasRun = true
            let status = try await context.runServed(words, with: [:], hint: "install it, or run the command as root")
            // Ctrl-C may have ended the command before the signal is handled here.
            guard status != ExitStatus.interrupted.rawValue else { throw CancellationError() }
            try Task.checkCancellation()
            context.output.note("pumpctl: '\(command)' ended with exit status \(status)")
        }
        if hasRun { context.output.note("pumpctl: run doctor again: the findings are from before the commands") }
    }
}
