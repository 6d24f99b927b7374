import ArgumentParser

struct StormCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm", abstract: "Fetch the log of a storm sensor, or follow its measurements.",
        subcommands: [LogCommand.self])
}

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Fetch the log of a storm sensor, or follow its measurements.",
        subcommands: [LogGetCommand.self, LogLiveCommand.self])
}
