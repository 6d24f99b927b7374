import Foundation
import TestSupport

/// The commands and options of `pumpctl`, from its own machine-readable description.
struct Grammar {
    /// A command, or a group of commands.
    struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var names: [Name]?
            var shouldDisplay: Bool
        }

        var commandName: String
        var shouldDisplay: Bool
        var arguments: [Argument]?
        var subcommands: [Command]?

        /// The options shown in the help, with their dashes.
        var options: Set<String> {
            let shown = (arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }
            return Set(shown.map { ($0.kind == "long" ? "--" : "-") + $0.name })
        }

        /// The options of this command and of all its subcommands.
        var allOptions: Set<String> { (subcommands ?? []).reduce(options) { $0.union($1.allOptions) } }

        /// The command at the end of these words, if the help shows each step to it. Words after a command are its
        /// arguments.
        func shown(_ words: some Collection<String>) -> Command? {
            guard let word = words.first, let subcommands, !subcommands.isEmpty else { return self }
            return subcommands.first { $0.commandName == word && $0.shouldDisplay }?.shown(words.dropFirst())
        }
    }

    let root: Command

    /// - Parameter program: The program to describe.
    init(of program: String = Executable.pumpctl) async throws {
        struct Description: Decodable { var command: Command }
        let ending = try await ChildProcess([program, "--experimental-dump-help"]).ending()
        root = try JSONDecoder().decode(Description.self, from: Data(ending.output.utf8)).command
    }
}
