import ArgumentParser
import LineProtocol

/// A command line, read once: the command that it names, and the arguments that this command parses.
///
/// The options that most commands take may stand before the name. They are moved behind it, where the command parses them with
/// its own; it refuses those that it does not take. Without a command, and for help, the whole program parses the line.
struct CommandLine {
    /// The command's name with those of its groups, as `["rescue", "list"]`.
    private(set) var path: [String] = []
    /// The command, or the group, that they lead to.
    private(set) var command: any ParsableCommand.Type = PumpctlCommand.self
    /// What the command parses.
    private(set) var arguments: [String] = []
    /// A word in the place of a command's name that is none.
    private var stranger: String?
    /// What is asked of the whole program, as `help` or `--version`, with the command that it is asked for.
    private var question: [String]?
    /// The line, each of the short options of ``SharedOption`` in a word of its own.
    private var words: [String]

    /// Those that ask for something of the whole program.
    private static let questions = [
        "-h", "--help", "-help", "--help-hidden", "--version", "--experimental-dump-help",
    ]

    /// Reads a line.
    ///
    /// - Parameter typed: The words behind the program's name.
    init(_ typed: [String]) {
        words = Self.unpacked(typed)
        var (leading, rest, asksHelp) = ([String](), words[...], false)
        while !command.configuration.subcommands.isEmpty, let word = rest.popFirst() {
            if SharedOption.valued.contains(word[...]) {
                leading += Self.joined(word, rest.popFirst())
            } else if word == "--generate-completion-script" {
                question = Self.joined(word, rest.popFirst())
            } else if word.hasPrefix("-"), word.count > 1 {
                leading.append(word)
                if Self.questions.contains(word) { question = path + [word] }
                // What is unknown may have a value: the parser says so.
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

    // MARK: What is wrong with it

    /// Refuses a line that the parser would take for another, or for a question.
    func check() throws(Failure) {
        // A string can't hold the bytes: a file of another name would be meant.
        if let argument = words.first(where: { $0.unicodeScalars.contains("\u{FFFD}") }) {
            throw Failure(
                .usage, code: "usage", "'\(argument)' is not UTF-8",
                hint: "name it by a link whose name is UTF-8: ln -s",
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

    /// Refuses two endpoints that differ, wherever they stand: which is meant can't be told, and OFF at the wrong one leaves a
    /// pump running.
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
            return "name what to simulate first: pumpctl sim pump --link \(stranger)"
        }
        if path.isEmpty, stranger.contains("/") || stranger.contains(":") {
            return "name the device by --port: pumpctl --port \(stranger) status"
        }
        if path.isEmpty, stranger == "version" { return "try: pumpctl --version" }
        let elsewhere = Self.names(of: stranger, in: command, name)
        if !elsewhere.isEmpty { return "try: \(elsewhere.joined(separator: ", or "))" }
        if let near = EditDistance.nearest(to: stranger, among: all) { return "try: \(name) \(near)" }
        return "choose one of: \(all.joined(separator: ", ")); see \(name) --help"
    }

    /// The whole names of the commands below a group that have this name.
    private static func names(of name: String, in group: any ParsableCommand.Type, _ path: String) -> [String] {
        group.configuration.subcommands.flatMap { command -> [String] in
            guard let own = command.configuration.commandName else { return [] }
            return own == name ? ["\(path) \(own)"] : names(of: name, in: command, "\(path) \(own)")
        }
    }

    /// Where to tell what is wrong with it.
    var output: Output { Output(isJSON: words.prefix { $0 != "--" }.contains("--json")) }

    // MARK: The command

    /// The command, with its arguments.
    ///
    /// - Throws: Errors of ``command``'s parser; what asks for help or a version, of the whole program's.
    func parsed() throws -> any ParsableCommand {
        if let question { return try PumpctlCommand.parseAsRoot(question) }
        guard isRunnable else { return try PumpctlCommand.parseAsRoot(Self.withNegativeValues(words)) }
        return try command.parseAsRoot(arguments)
    }

    /// Whether it names a command, and not only a group.
    private var isRunnable: Bool { command.configuration.subcommands.isEmpty }

    // MARK: The words

    /// Short options that are written in one word, as `-vp /dev/ttyUSB0`, each in a word of its own.
    private static func unpacked(_ words: [String]) -> [String] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words[..<end].flatMap { isPacked($0) ? $0.dropFirst().map { "-\($0)" } : [$0] } + words[end...]
    }

    /// Whether a word is several of these options: flags, and at most the last with a value behind it.
    private static func isPacked(_ word: String) -> Bool {
        let letters = word.dropFirst()
        return word.hasPrefix("-") && letters.count > 1 && letters.dropLast().allSatisfy { "vh".contains($0) }
            && letters.last.map { "vhpf".contains($0) } == true
    }

    /// Arguments whose negative numbers the parser takes for values and not for options: `--at -35.9,-79` as `--at=-35.9,-79`,
    /// and `say -5` as `say -- -5` if no option stands behind it. No option begins with a digit.
    private static func withNegativeValues(_ words: [String]) -> [String] {
        var result: [String] = []
        for (index, word) in words.enumerated() {
            if word == "--" { return result + words[index...] }
            guard isNegative(word) else {
                result.append(word)
                continue
            }
            // What follows one of the flags that stand with every command is not its value.
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

    /// An option with its value in one word: a command that does not take the option would take the value for an argument of its
    /// own.
    private static func joined(_ option: String, _ value: String?) -> [String] {
        guard let value else { return [option] }
        return value.isEmpty || value.hasPrefix("-") ? [option, value] : ["\(option)=\(value)"]
    }

    /// Whether a text begins as a negative number does.
    private static func isNegative(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst()
        let digits = rest.first == UInt8(ascii: ".") ? rest.dropFirst() : rest
        return text.hasPrefix("-") && digits.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
    }
}

/// One of the options that may stand before any command's name.
enum SharedOption: String, CaseIterable {
    case port, family, json, timeout, wait, reset, record, capture, verbose

    /// How it is written.
    var spellings: [Substring] {
        switch self {
        case .port: ["--port", "-p"]
        case .family: ["--family", "-f"]
        case .verbose: ["--verbose", "-v"]
        case .record: ["--record", "--no-record"]
        case .json, .timeout, .wait, .reset, .capture: ["--\(rawValue)"]
        }
    }

    /// The spellings of those that a value follows.
    static let valued = [SharedOption.port, .family, .timeout, .wait, .capture].flatMap(\.spellings)
    /// The spellings of those that none follows.
    static let flags = [SharedOption.json, .reset, .record, .verbose].flatMap(\.spellings)
}
