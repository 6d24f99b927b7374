import ArgumentParser
import Glibc
import LineProtocol

/// A command line, split into the command that it names and the arguments for that command.
///
/// Options of ``SharedOption`` may precede the command's name. They are moved behind the name: the command then parses
/// them with its own options, and rejects an option that it does not have. The parser of ``PumpctlCommand`` parses a
/// line without a command, and a request for help or the version.
struct CommandLine {
    /// The names of the command and its groups, such as `["rescue", "list"]`.
    private(set) var path: [String] = []
    /// The command or group at ``path``.
    private(set) var command: any ParsableCommand.Type = PumpctlCommand.self
    /// The arguments for the command's parser: the options before the command's name, then the words behind the name.
    private(set) var arguments: [String] = []
    /// An unknown word in the place of a command's name; nil if there is none.
    private var stranger: String?
    /// A request for help, the version or a completion script, as arguments for the parser of ``PumpctlCommand``, such
    /// as `["help", "led"]`; nil for any other line.
    private var question: [String]?
    /// The words of the line, with packed short options separated.
    private var words: [String]

    /// Options that request help or the version.
    private static let questions = [
        "-h", "--help", "-help", "--help-hidden", "--version", "--experimental-dump-help",
    ]

    /// The option that requests a completion script.
    private static let scriptOption = "--generate-completion-script"

    /// Splits a line.
    ///
    /// - Parameter typed: The words after the program's name.
    init(_ typed: [String]) {
        words = Self.unpacked(typed)
        var (leading, rest, asksHelp) = ([String](), words[...], false)
        while !command.configuration.subcommands.isEmpty, let word = rest.popFirst() {
            if SharedOption.valued.contains(word[...]) {
                leading += Self.joined(word, rest.popFirst())
            } else if word.hasPrefix(Self.scriptOption) {
                question = word.contains("=") ? [word] : Self.joined(word, rest.popFirst())
            } else if word.hasPrefix("-"), word.count > 1 {
                leading.append(word)
                if Self.questions.contains(word) { question = path + [word] }
                // Stop here: an unknown option may have a value. The parser reports the unknown option.
                guard question != nil || SharedOption.flags.contains(word[...]) || word.contains("=") else { break }
            } else if path.isEmpty, word == "help" {
                asksHelp = true
            } else if let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word }
            ) {
                path.append(word)
                command = next
            } else {
                stranger = word
                break
            }
        }
        if asksHelp { question = ["help"] + path }
        let behind = rest.prefix { $0 != "--" }.filter(Self.questions.contains)
        if question == nil, isRunnable, !behind.isEmpty { question = path + behind }
        arguments = asksHelp ? ["--help"] : Self.withNegativeValues(leading + rest)
        if let captured = RecordCommand.captured(self) { self = captured }
    }

    // MARK: Checks

    /// Rejects an argument that is not UTF-8, an unknown command, `--wait` before `sim`, and two different `--port`.
    /// Before a command's name `--wait` has a time, but that of `sim` is a flag.
    func check() throws(Failure) {
        // In a String, U+FFFD replaces invalid bytes, so the argument would name another file.
        if let argument = words.first(where: { $0.unicodeScalars.contains("\u{FFFD}") }) {
            throw Failure(
                .usage, code: "usage", "'\(argument)' is not UTF-8",
                hint: "create a link with a UTF-8 name, and use that name: ln -s",
                outcome: "not_sent")
        }
        if let stranger {
            let name = (["pumpctl"] + path).joined(separator: " ")
            throw Failure(
                .usage, code: "usage", "unknown command '\(stranger)' for '\(name)'", hint: hint(on: stranger, name))
        }
        if path.first == "sim", isRunnable, words.prefix(while: { $0 != "sim" }).contains("--wait") {
            throw Failure(
                .usage, code: "usage", "--wait with a time cannot be combined with 'sim'",
                hint: "see pumpctl sim --help")
        }
        try checkPorts()
    }

    /// Rejects two different values of `--port`, before or after the command's name: the intended endpoint is unknown,
    /// and OFF at the wrong endpoint leaves a pump running.
    private func checkPorts() throws(Failure) {
        var (ports, rest): ([String], ArraySlice) = ([], words.prefix { $0 != "--" })
        while let word = rest.popFirst() {
            let option = word.prefix { $0 != "=" }
            guard SharedOption.port.spellings.contains(option) else { continue }
            ports.append(option == word ? rest.popFirst() ?? "" : String(word.dropFirst(option.count + 1)))
            guard ports[0] != ports[ports.count - 1] else { continue }
            throw Failure(
                .usage, code: "usage", "--port is given twice: \(ports[0]) and \(ports[ports.count - 1])",
                hint: "omit one of them", outcome: "not_sent")
        }
    }

    private func hint(on stranger: String, _ name: String) -> String {
        let all = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        if path == ["sim"], stranger.contains("/") {
            return "name the simulated device first: pumpctl sim pump --link \(stranger)"
        }
        if path.isEmpty, stranger.contains("/") || stranger.contains(":") {
            return "name the device with --port: pumpctl --port \(stranger) status"
        }
        if path.isEmpty, stranger == "version" { return "try: pumpctl --version" }
        let elsewhere = Self.names(of: stranger, in: command, name)
        if !elsewhere.isEmpty { return "try: \(elsewhere.joined(separator: ", or "))" }
        if let near = EditDistance.nearest(to: stranger, among: all) {
            // A person who wants the pump off must not be told to switch it on.
            let isOn = near == OnCommand.configuration.commandName && path.isEmpty
            return isOn ? "try: \(name) off, or \(name) on" : "try: \(name) \(near)"
        }
        return "choose one of: \(all.joined(separator: ", ")); see \(name) --help"
    }

    /// Returns the full names, such as `pumpctl storm log get`, of all commands in a group that have this name.
    ///
    /// - Parameter path: The full name of the group.
    private static func names(of name: String, in group: any ParsableCommand.Type, _ path: String) -> [String] {
        group.configuration.subcommands.flatMap { command -> [String] in
            guard let own = command.configuration.commandName else { return [] }
            return own == name ? ["\(path) \(own)"] : names(of: name, in: command, "\(path) \(own)")
        }
    }

    /// The output for errors in the line.
    var output: Output { Output(isJSON: words.prefix { $0 != "--" }.contains("--json")) }

    // MARK: The command

    /// Parses the command with its arguments.
    ///
    /// - Throws: The errors of the parser. A request for help, the version or a completion script is thrown too: the
    ///   text to print is the message of the error.
    func parsed() throws -> any ParsableCommand {
        if let question {
            if let shell = Self.completingShell(question) {
                throw CleanExit.message(CompletionScript.text(for: shell))
            }
            return try PumpctlCommand.parseAsRoot(question)
        }
        guard isRunnable else { return try PumpctlCommand.parseAsRoot(Self.withNegativeValues(words)) }
        return try command.parseAsRoot(arguments)
    }

    /// Returns the shell for which a request asks the completion script; nil if it asks for something else, or for an
    /// unknown shell, which the parser reports.
    private static func completingShell(_ question: [String]) -> CompletingShell? {
        guard let word = question.first, word.hasPrefix(scriptOption) else { return nil }
        let name = word == scriptOption ? getenv("SHELL").map { String(cString: $0) } ?? "" : String(word)
        return CompletingShell(rawValue: String(name.split { "/=".contains($0) }.last ?? ""))
    }

    /// Whether the line names a command, and not only a group.
    private var isRunnable: Bool { command.configuration.subcommands.isEmpty }

    // MARK: Words

    /// Separates short options that are packed into one word, as in `-vp /dev/ttyUSB0`.
    private static func unpacked(_ words: [String]) -> [String] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words[..<end].flatMap { isPacked($0) ? $0.dropFirst().map { "-\($0)" } : [$0] } + words[end...]
    }

    /// Whether a word packs several of the short options `-v`, `-h`, `-p` and `-f`, as in `-vp`. Only the last one may
    /// have a value.
    private static func isPacked(_ word: String) -> Bool {
        let letters = word.dropFirst()
        return word.hasPrefix("-") && letters.count > 1 && letters.dropLast().allSatisfy { "vh".contains($0) }
            && letters.last.map { "vhpf".contains($0) } == true
    }

    /// Rewrites negative numbers, so that the parser takes them for values and not for options: `--at -35.9,-79`
    /// becomes `--at=-35.9,-79`, and `say -5` becomes `say -- -5` if no option follows. No option begins with a digit.
    private static func withNegativeValues(_ words: [String]) -> [String] {
        var result: [String] = []
        for (index, word) in words.enumerated() {
            if word == "--" { return result + words[index...] }
            guard isNegative(word) else {
                result.append(word)
                continue
            }
            // A shared flag such as `--json` has no value, so the number is not its value. A command's own flags are
            // not known here: `--hex -5` becomes `--hex=-5`, which the parser rejects.
            if let option = result.last, option.hasPrefix("--"), !option.contains("="),
                !SharedOption.flags.contains(option[...])
            {
                result[result.count - 1] = option + "=" + word
            } else if words[(index + 1)...].allSatisfy({ !$0.hasPrefix("-") || isNegative($0) }) {
                return result + ["--"] + words[index...]
            } else {
                result.append(word)
            }
        }
        return result
    }

    /// Returns an option and its value as one word, so that a command without this option does not take the value for
    /// an argument of its own. A value that is empty or begins with `-` stays a second word.
    private static func joined(_ option: String, _ value: String?) -> [String] {
        guard let value else { return [option] }
        return value.isEmpty || value.hasPrefix("-") ? [option, value] : ["\(option)=\(value)"]
    }

    /// Whether a text begins like a negative number.
    private static func isNegative(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst()
        let digits = rest.first == UInt8(ascii: ".") ? rest.dropFirst() : rest
        return text.hasPrefix("-") && digits.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
    }
}

/// An option that may precede any command's name: the names of the options in ``SharedOptions``.
enum SharedOption: String, CaseIterable {
    case port, family, json, timeout, wait, reset, record, capture, verbose

    /// The spellings of the option.
    var spellings: [Substring] {
        switch self {
        case .port: ["--port", "-p"]
        case .family: ["--family", "-f"]
        case .verbose: ["--verbose", "-v"]
        case .record: ["--record", "--no-record"]
        case .json, .timeout, .wait, .reset, .capture: ["--\(rawValue)"]
        }
    }

    /// The spellings of the options with a value.
    static let valued = [SharedOption.port, .family, .timeout, .wait, .capture].flatMap(\.spellings)
    /// The spellings of the options without a value.
    static let flags = [SharedOption.json, .reset, .record, .verbose].flatMap(\.spellings)
}
