import ArgumentParser
import DeviceKit

struct ConsoleCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Talk to the device line by line.",
        discussion: """
            Each typed line is sent; lines of the device appear above the input. The arrow keys recall earlier \
            lines, which are kept in ~/.local/state/pumpctl/history. Ctrl-D or :quit ends, Ctrl-C clears the line or \
            ends if it is empty. If the device is unplugged, waits for its return.

            From a pipe, each line is sent once the device has answered the previous one: at a line that --until \
            names, or else after a silence of --quiet. --timeout limits the wait for an answer. The console ends \
            after the last line, and if the link breaks; with --until also if an answer is incomplete, and with \
            --fails-on at the first error.

            For a device that pumpctl does not know, use --family raw.
            """,
        example: "pumpctl --port /dev/ttyUSB0 console --timestamps")

    @OptionGroup var shared: SharedOptions

    @Flag(help: "Show the time of each line.")
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
