import ArgumentParser

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "monitor", abstract: "Show the device's state live.")
    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions
    func run() throws {}
}
