import ArgumentParser
import DeviceKit
import LineProtocol
import Terminal

struct RescueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rescue", abstract: "Receive, keep and forward messages of the rescue app.",
        discussion: """
            Messages are kept in ~/.local/share/pumpctl/record.sqlite ($XDG_DATA_HOME), each once, also after they were \
            sent. In received text, characters that control a terminal or hide text are shown as \\x1b or \
            \\u{202e}.
            """,
        subcommands: [
            MessageSendCommand.self, MessageSyncCommand.self, MessageListenCommand.self, MessageListCommand.self,
            MessageExportCommand.self,
        ])
}

/// A command for messages.
protocol RescueSubcommand: ContextCommand {}

extension RescueSubcommand {
    static var family: Family? { .rescue }
}

struct MessageListCommand: RescueSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the kept messages; needs no device.",
        discussion: """
            --csv prints id,time,status,category,latitude,longitude,content; text that a spreadsheet would take for a formula \
            begins with an apostrophe there. Each line of --json has these keys; degrees are those of WGS 84.
            """,
        example: "pumpctl rescue list --status pending_sync")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Option(help: "Only messages with this status.")
    var status: RescueStatus?

    @Option(help: "Only messages of this category.")
    var category: RescueCategory?

    @Flag(help: "Print comma-separated values.")
    var csv = false

    func validate() throws {
        if csv, shared.json {
            throw ValidationError("--csv cannot be combined with --json")
        }
    }

    func run(in context: CommandContext) async throws {
        let isJSON = context.output.isJSON
        let header = csv ? CSV.row(RescueMessage.columns) : nil
        try await OutputFile().writeMessages(status, category, header: header) { message in
            if csv { return Array(CSV.row(message.row.map { $0.printable() }).utf8) }
            return Array((isJSON ? Output.json(message.values) : message.line(showsStatus: true)).utf8)
        }
    }
}

struct MessageExportCommand: RescueSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the kept messages as on the wire, one per line.",
        discussion: "Unknown fields are included.",
        example: "pumpctl rescue export -o messages.jsonl")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Option(help: "Only messages with this status.")
    var status: RescueStatus?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write, instead of standard output.", valueName: "file"))
    var output: String?

    func run(in context: CommandContext) async throws {
        try await ReplacedFile(path: output).replace { file in
            // On a terminal, characters of a message that would control it are escaped.
            let isTerminal = file.isTerminal
            try await file.writeMessages(status) { message in
                isTerminal ? Array(String(decoding: message.json, as: UTF8.self).printableInJSON().utf8) : message.json
            }
        }
    }
}

extension OutputFile {
    /// Writes the stored messages of a status and a category while they are read; nil stands for any.
    ///
    /// - Throws: `FileError`; `Trouble` if the messages can't be read.
    fileprivate func writeMessages(
        _ status: RescueStatus?, _ category: RescueCategory? = nil, header: String? = nil,
        _ line: @escaping @Sendable (RescueMessage) -> [UInt8]
    ) async throws {
        try await writeLines(header: header.map { Array($0.utf8) }) {
            let reader = try MessageReader(status: status, category: category)
            return { try reader.next().map(line) }
        }
    }
}
