import ArgumentParser
import DeviceKit
import Glibc
import StrictJSON

/// The options and arguments of a command, as the parser describes them.
struct CommandGrammar {
    /// An option, a flag, or an argument without a name.
    struct Argument {
        enum Kind: String { case flag, option, positional }

        let kind: Kind
        /// The names with their dashes, such as `--port` and `-p`; empty for an argument without a name.
        let names: [String]
        /// The word for the value in the help, such as `endpoint`.
        let valueName: String
        let help: String
        /// The permitted values; empty if the parser does not list them.
        let values: [String]
        let isRepeating: Bool
        /// Whether the option takes all words up to the next option.
        let takesMany: Bool
        /// Whether the words come behind `--`.
        let isBehindTerminator: Bool
    }

    let arguments: [Argument]

    /// Describes the options of a command or a group of options.
    init(_ options: any ParsableArguments.Type) { self.init(description: Array(options._dumpHelp().utf8)) }

    /// Describes the options of a command of pumpctl. `serve` has the options of pumpctld, which is started to describe
    /// them. Without an installed pumpctld, the description has only the options that ``ServeCommand`` declares.
    init(of command: any ParsableCommand.Type) {
        if command == ServeCommand.self, let daemon = try? CompanionProgram.installed("pumpctld"),
            let (_, socket) = try? daemon.start(["--experimental-dump-help"])
        {
            self.init(description: Self.bytes(from: socket))
        } else {
            self.init(command)
        }
    }

    private init(description: [UInt8]) {
        let description = try? JSONValue(description, size: .max)
        arguments = description?["command"]?["arguments"]?.elements?.compactMap(Argument.init) ?? []
    }

    private static func bytes(from socket: CInt) -> [UInt8] {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while case let count = read(socket, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    /// The arguments without names that are not behind `--`, in order.
    var positionals: [Argument] { arguments.filter { $0.kind == .positional && !$0.isBehindTerminator } }

    /// Returns the option or flag with a name such as `--port`; nil if there is none.
    func named(_ name: some StringProtocol) -> Argument? { arguments.first { $0.names.contains(String(name)) } }
}

extension CommandGrammar.Argument {
    fileprivate init?(_ description: JSONValue) {
        guard description["shouldDisplay"]?.boolean != false,
            let kind = description["kind"]?.text.flatMap(Kind.init)
        else { return nil }
        self.kind = kind
        names = (description["names"]?.elements ?? []).compactMap { name in
            name["name"]?.text.map { (name["kind"]?.text == "long" ? "--" : "-") + $0 }
        }
        valueName = description["valueName"]?.text ?? ""
        help = description["abstract"]?.text ?? ""
        let listed = description["completionKind"]?["list"]?["values"] ?? description["allValues"]
        values = listed?.elements?.compactMap(\.text) ?? []
        isRepeating = description["isRepeating"]?.boolean == true
        let parsing = description["parsingStrategy"]?.text
        takesMany = parsing == "upToNextOption"
        isBehindTerminator = parsing == "postTerminator"
    }

    /// Returns the name that continues a text, a long one if possible; nil if there is none.
    func name(continuing text: String) -> String? {
        let matching = names.filter { $0.hasPrefix(text) }
        return matching.first { $0.hasPrefix("--") } ?? matching.first
    }
}

/// The words of a command's arguments before the cursor, assigned to the command's options.
struct GivenArguments {
    /// The words that belong to no option, in order.
    private(set) var positionals: [String] = []
    /// The given options and flags, by the names as typed, with their last values; the value of a flag is empty.
    private(set) var options: [String: String] = [:]
    /// The option whose value is at the cursor; nil if there is none.
    private(set) var open: CommandGrammar.Argument?
    /// The words behind `--`; nil if there is no `--`.
    private(set) var command: [String]?

    init(_ words: [String], of grammar: CommandGrammar) {
        var name = ""
        for (index, word) in words.enumerated() {
            if word == "--" {
                command = Array(words[(index + 1)...])
                break
            }
            if word.hasPrefix("-"), word.count > 1, let argument = grammar.named(word.prefix { $0 != "=" }) {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                name = String(parts[0])
                options[name] = parts.count > 1 ? String(parts[1]) : ""
                open = argument.kind == .option && parts.count == 1 ? argument : nil
            } else if let argument = open {
                options[name] = word
                if !argument.takesMany { open = nil }
            } else if !word.hasPrefix("-") || word == "-" {
                positionals.append(word)
            }
        }
        if command != nil { open = nil }
    }

    /// Returns the last value of an option that has any of these names; nil if it is not given.
    func value(of names: String...) -> String? { names.lazy.compactMap { options[$0] }.first }
}
