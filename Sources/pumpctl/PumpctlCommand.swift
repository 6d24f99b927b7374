import ArgumentParser

@main
struct PumpctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pumpctl")
}
