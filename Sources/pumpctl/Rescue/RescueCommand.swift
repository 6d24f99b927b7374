import ArgumentParser
import DeviceKit
import LineProtocol

struct RescueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rescue", abstract: "Receive, keep and hand on messages of the rescue app.",
        discussion: """
            Messages are kept in ~/.local/share/pumpctl/record.sqlite ($XDG_DATA_HOME), each once, until they are handed on and \
            after that. What others have written is never printed as it came: characters that steer a terminal or hide text are shown as \\x1b or \
            \\u{202e}.
            """,
        subcommands: [
            MessageSendCommand.self, MessageSyncCommand.self, MessageListenCommand.self, MessageListCommand.self,
            MessageExportCommand.self,
        ])
}

struct MessageListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the messages that are kept; no device is needed.",
        discussion: """
            --csv prints id,time,status,category,latitude,longitude,content; text that a spreadsheet would take for a formula \
            begins with an apostrophe there. Each line of --json has these keys; degrees are those of WGS 84.
            """,
        example: "pumpctl rescue list --status pending_sync")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Option(help: "Only those of this status.")
    var status: RescueStatus?

    @Option(help: "Only those of this category.")
    var category: RescueCategory?

    @Flag(help: "Print comma-separated values.")
    var csv = false

    func validate() throws {
        if csv, shared.merged(with: parent.shared).json { throw ValidationError("--csv goes without --json") }
    }

    func run() throws {
        let (status, category, isCSV) = (status, category, csv)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .rescue) { context in
            let format: MessageFormat = isCSV ? .csv : context.output.isJSON ? .json : .text
            try await OutputFile().writeMessages(status, category, as: format)
        }
    }
}

struct MessageExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the messages that are kept as they are on the wire, one a line.",
        discussion: "Fields that pumpctl does not know are there too.",
        example: "pumpctl rescue export -o messages.jsonl")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Option(help: "Only those of this status.")
    var status: RescueStatus?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write them, if not to standard output.", valueName: "file"))
    var output: String?

    func run() throws {
        let (status, path) = (status, output)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .rescue) { _ in
            let file = if let path { try OutputFile(path: path, .replace) } else { OutputFile() }
            try await file.writeMessages(status, as: .wire)
        }
    }
}
