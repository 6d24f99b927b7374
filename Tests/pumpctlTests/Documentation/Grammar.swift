import Foundation
import TestSupport

/// The commands and options of a program, from its option `--experimental-dump-help`.
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

        /// The command that `words` lead to from this command; nil if the help does not show one of the steps. Words
        /// after a command without subcommands are its arguments.
        func shown(_ words: some Collection<String>) -> Command? {
            guard let word = words.first, let subcommands, !subcommands.isEmpty else { return self }
            return subcommands.first { $0.commandName == word && $0.shouldDisplay }?.shown(words.dropFirst())
        }
    }

    let root: Command

    /// - Parameter program: The path of the program, pumpctl by default.
    init(of program: String = Executable.pumpctl) async throws {
        struct Description: Decodable { var command: Command }
        let ending = try await ChildProcess([program, "--experimental-dump-help"]).ending()
        root = try JSONDecoder().decode(Description.self, from: Data(ending.output.utf8)).command
    }
}
