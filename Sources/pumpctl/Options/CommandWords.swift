import ArgumentParser
import LineProtocol

/// The words of a command line that name its command.
///
/// The parser shows the help of what it has found where a word behind it is no command, and exits with 0.
struct CommandWords {
    /// The command's name with those of its groups, as `["rescue", "list"]`.
    private(set) var path: [String] = []
    /// The command, or the group, that they lead to.
    private(set) var command: any ParsableCommand.Type = PumpctlCommand.self
    /// Where the first of them stands; nil where there is none. A word that names none counts.
    private(set) var place: Int?
    /// A word in the place of a command's name that is none.
    private(set) var stranger: String?

    /// The options that may stand before a command's name and that a value follows.
    private static let valued = SharedOption.valued + ["--generate-completion-script"]
    /// Those that no value follows.
    private static let flags = SharedOption.flags + ["-h", "--help", "-help", "--help-hidden", "--version"]

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let word = rest.popFirst(), !command.configuration.subcommands.isEmpty {
            if Self.valued.contains(word[...]) {
                rest = rest.dropFirst()
            } else if word.hasPrefix("-"), word.count > 1 {
                // What is unknown may have a value: the parser says so.
                guard Self.flags.contains(word[...]) || word.contains("=") else { return }
            } else if path.isEmpty, word == "help" {
                continue
            } else {
                place = place ?? rest.startIndex - 1
                let next = command.configuration.subcommands.first { $0.configuration.commandName == word }
                guard let next else {
                    stranger = word
                    return
                }
                path.append(word)
                command = next
            }
        }
    }

    /// Why there is no such command; nil where there is.
    var failure: Failure? {
        guard let stranger else { return nil }
        let name = (["pumpctl"] + path).joined(separator: " ")
        return Failure(
            .usage, code: "usage", "unknown command '\(stranger)' for '\(name)'", hint: hint(on: stranger, name))
    }

    private func hint(on stranger: String, _ name: String) -> String {
        let all = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        if path == ["sim"], stranger.contains("/") {
            return "name what to simulate first: pumpctl sim pump --link \(stranger)"
        }
        if path.isEmpty, stranger.contains("/") || stranger.contains(":") {
            return "name the device by --port: pumpctl --port \(stranger) status"
        }
        if path.isEmpty, stranger == "version" { return "try: pumpctl --version" }
        if let near = EditDistance.nearest(to: stranger, among: all) { return "try: \(name) \(near)" }
        return "choose one of: \(all.joined(separator: ", ")); see \(name) --help"
    }
}
