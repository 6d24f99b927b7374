import ArgumentParser
import DeviceKit
import LineProtocol

struct SendCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a line as it is, and print what comes back.",
        discussion: """
            Ends when nothing more has come for --quiet. What the device had said before is told on standard error. A BLE device that takes a packet for a line is sent no line end.
            """,
        example: "pumpctl --port /dev/ttyUSB0 send STATUS")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Argument(help: "The line, without its end.")
    var line: String

    @Option(
        help: ArgumentHelp("How long a silence ends the answer.", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var quiet = SecondsArgument(argument: "0.5")!

    @Flag(name: .customLong("break"), help: "Hold the line in the break condition for a quarter of a second first.")
    var sendsBreak = false

    @Flag(help: "Send also what would set the pump to another speed than it says.")
    var force = false

    /// The longest silence that `off` waits for without asking.
    private static let longestPause = Duration.seconds(1)

    func validate() throws {
        let family = shared.merged(with: parent.shared).deviceFamily
        if !force, let reason = family.wire.danger(Array(line.utf8)) {
            throw ValidationError(reason + "; --force sends it all the same")
        }
    }

    func run(in context: CommandContext) async throws {
        // Who listens for long has the device, and must switch it off for others; what comes may never end.
        let isBrief = quiet.duration <= Self.longestPause
        let link = try await context.openLink(for: isBrief ? .oneCommand : .watching)
        try await withCleanup({ await link.close() }) {
            let exchange = LineExchange(with: context.family, over: link, clock: context.clock)
            for line in try await exchange.earlierLines() {
                context.output.note("pumpctl: said before: \(line.marked)")
            }
            if sendsBreak { try await link.sendBreak(for: .milliseconds(250)) }
            let answer = try await exchange.send(Array(line.utf8), within: context.timeout, quiet: quiet.duration) {
                context.output.result($0.text, ["line": $0.text, "whole": $0.hasEnd] as ResultRecord)
            }
            if answer.lineCount == 0 {
                throw Failure(
                    .temporaryFailure, code: "no_answer", "\(link.name): no answer in \(context.timeout.inSeconds) s",
                    hint: link.silenceHint ?? DevicePlace.adviceOnSilence(at: context.place, context.family))
            }
            if let deviceError = answer.deviceError {
                throw Failure(
                    .refused, code: "refused", "\(link.name): the device answered \(deviceError)",
                    hint: context.family.hint(deviceError), deviceCode: deviceError)
            }
        }
    }
}
