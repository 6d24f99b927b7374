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

            From a pipe, each line is sent once the device has answered the one before: once a line has come that --until \
            names, or else once the device has been quiet for --quiet. Where no answer comes it is waited for as long as \
            --timeout says. The console ends with the last line, and where the link breaks; with --until also where an \
            answer does not end, and with --fails-on at the first error.

            A device that is none of those that pumpctl knows is of the family raw.
            """,
        example: "pumpctl --port /dev/ttyUSB0 console --timestamps")

    @OptionGroup var shared: SharedOptions

    @Flag(help: "Show when each line came.")
    var timestamps = false

    @OptionGroup var answer: AnswerOptions

    @Flag(help: "Also send lines that the firmware would misread as another speed.")
    var force = false

    func run(in context: CommandContext) async throws {
        var behaviour = LineConsole.Options()
        (behaviour.answers, behaviour.ends) = (answer.rules(context.timeout), answer.ends)
        behaviour.sendsDangerous = force
        try await Console(context, behaviour, showsTime: timestamps).run()
    }
}
