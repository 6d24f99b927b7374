import ArgumentParser
import DeviceKit

/// A command that ``CommandRunner`` runs.
protocol ContextCommand: ParsableCommand, Sendable {
    /// The values of the shared options.
    var shared: SharedOptions { get }
    /// The family of the command; nil for the family of the options.
    static var family: Family? { get }
    /// The part of the command that is recorded if recording is on.
    static var records: CommandContext.RecordedContent { get }
    /// Whether the command switches the device off.
    static var isStop: Bool { get }
    /// Whether Ctrl-Z ends the command, as Ctrl-C does: a stopped process could not switch off the pump that it has
    /// started.
    var endsBeforeSuspension: Bool { get }

    /// Runs the command. A signal cancels the task.
    ///
    /// - Throws: Any error, which ``CommandRunner`` reports.
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
