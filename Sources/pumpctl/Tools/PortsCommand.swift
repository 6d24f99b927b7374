import ArgumentParser
import SerialPort

struct PortsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ports",
        abstract: "List the serial ports, without opening any.",
        discussion: "With --watch it goes on to tell of each that is plugged in or unplugged, until it is interrupted.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Flag(help: "Tell of ports as they come and go.")
    var watch = false

    func run() throws {
        let watches = watch
        try CommandRunner.run(shared.merged(with: parent.shared)) { context in
            if watches {
                try await PortWatching(context.output).run(on: context.loop)
            } else {
                try PortListing(context.output).print(SerialPorts.all())
            }
        }
    }
}
