import ArgumentParser
import DeviceKit

/// A command that ``CommandRunner`` runs, with all options of every command.
protocol ContextCommand: ParsableCommand, Sendable {
    /// The options that stood behind its name.
    var shared: SharedOptions { get }
    /// The family that it is for; nil for the one that the options name.
    static var family: Family? { get }
    /// What is recorded of it, where that is asked for.
    static var records: CommandContext.RecordedContent { get }
    /// Whether it switches the device off.
    static var isStop: Bool { get }
    /// Whether Ctrl-Z ends it too.
    var endsBeforeSuspension: Bool { get }

    func run(in context: CommandContext) async throws
}

extension ContextCommand {
    static var family: Family? { nil }
    static var records: CommandContext.RecordedContent { .lines }
    static var isStop: Bool { false }
    var endsBeforeSuspension: Bool { false }

    func run() throws {
        try CommandRunner.run(
            shared, for: Self.family, records: Self.records,
            endsBeforeSuspension: endsBeforeSuspension, isStop: Self.isStop
        ) { try await run(in: $0) }
    }
}
