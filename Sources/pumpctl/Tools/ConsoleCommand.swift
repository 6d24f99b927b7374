import ArgumentParser

struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "console", abstract: "Talk to the device line by line.")
    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions
    func run() throws {}
}
