import ArgumentParser
import SerialPort

struct PortsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ports",
        abstract: "List the serial ports, without opening any.",
        discussion: "--watch follows plugging and unplugging until it is interrupted.",
        example: "pumpctl ports --watch")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Flag(help: "Follow plugging and unplugging.")
    var watch = false

    func run() throws {
        let watches = watch
        try CommandRunner.run(shared.merged(with: parent.shared)) { context in
            if watches {
                try await PortListing(output: context.output).watch(on: context.loop)
            } else {
                try PortListing(output: context.output).print(SerialPorts.all())
            }
        }
    }
}
