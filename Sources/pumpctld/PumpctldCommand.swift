import ArgumentParser

/// The daemon that shares devices among programs.
@main
struct PumpctldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pumpctld", abstract: "Share devices among programs.")

    func run() async throws {}
}
