import ArgumentParser
import DeviceKit

struct ConsoleCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Talk to the device line by line.",
        discussion: """
            What is typed is sent as a line; lines of the device appear above it. The arrow keys go through earlier \
            lines, which are kept in ~/.local/state/pumpctl/history. Ctrl-D or :quit ends, Ctrl-C clears the line or \
            ends on an empty one. A device that is unplugged is waited for.

            From a pipe, each line is sent once the device has answered the one before and been quiet for --quiet; where \
            no answer comes it is waited for as long as --timeout says. The console ends with the last line, and where \
            the link breaks.
            """,
        example: "pumpctl --port /dev/ttyUSB0 console --timestamps")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Flag(help: "Show when each line came.")
    var timestamps = false

    @Option(
        help: ArgumentHelp("How long a silence ends the answer to a line from a pipe.", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var quiet = SecondsArgument(argument: "0.5")!

    @Flag(help: "Send also what would set the pump to another speed than it says.")
    var force = false

    func run(in context: CommandContext) async throws {
        var behaviour = LineConsole.Options()
        (behaviour.quiet, behaviour.sendsDangerous) = (quiet.duration, force)
        try await Console(context, behaviour, showsTime: timestamps).run()
    }
}
