import ArgumentParser
import DescriptorIO
import DeviceKit

/// `pumpctl serve`, which starts `pumpctld`: a program of its own, so that its libraries do not slow the start of other
/// commands.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Share devices among programs.",
        discussion: """
            Starts pumpctld with the same arguments: it holds the link to each device, and offers the device as a serial port, on \
            a TCP port or on a Unix socket to several programs at once. All its options: pumpctl serve --help
            """,
        example: "pumpctl serve --port usb:1a86:7523 --pty /tmp/pump --tcp 4000")

    @OptionGroup var own: ServeOptions
    var shared: SharedOptions { own.shared }

    @Argument(parsing: .allUnrecognized, help: "Other options of pumpctld.")
    var arguments: [String] = []

    func run() throws { throw Self.replaceThis(CommandLine(ProgramArguments.typed(by: "pumpctl")).arguments) }

    /// Replaces this process by `pumpctld`. Returns only if replacing has failed. ``PumpctlCommand/main()`` calls this
    /// before the arguments are parsed.
    static func replaceThis(_ arguments: [String]) -> Failure {
        CompanionProgram.replaceThis(by: "pumpctld", arguments)
    }
}
