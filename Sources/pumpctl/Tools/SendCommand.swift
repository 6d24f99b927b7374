import ArgumentParser
import DeviceKit
import LineProtocol

struct SendCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a line as it is, and print the answer.",
        discussion: """
            Ends with the answer: at a line that --until names, or else after a silence of --quiet. Lines that arrived \
            earlier are shown on standard error. To a BLE device that takes each packet for a line, no line end is sent.

            For a device that pumpctl does not know, use --family raw.
            """,
        example: "pumpctl --port /dev/ttyUSB0 --family raw send '$I' --until 'ok|error:*' --fails-on 'error:*'")

    @OptionGroup var shared: SharedOptions

    @Argument(help: "The line, without its end.")
    var line: String

    @OptionGroup var answer: AnswerOptions

    @Flag(help: "Take the line as hexadecimal bytes, e.g. '01 03'; without --ends, no line end is sent.")
    var hex = false

    @Flag(help: "Interpret escapes in the line, e.g. '?\\x18'; without --ends, no line end is sent.")
    var escapes = false

    @Flag(help: "Do not wait for an answer.")
    var noAnswer = false

    @Flag(name: .customLong("break"), help: "Send a break of a quarter of a second first.")
    var sendsBreak = false

    @Flag(help: "Also send lines that the firmware would misread as another speed.")
    var force = false

    /// The longest `--quiet` for which another program's `off` waits for this command to end, instead of requesting OFF
    /// from it.
    private static let longestPause = Duration.seconds(1)

    func validate() throws {
        let family = shared.deviceFamily
        if hex, escapes { throw ValidationError("--hex cannot be combined with --escapes") }
        if noAnswer, answer.until != nil || answer.failsOn != nil {
            throw ValidationError("--no-answer cannot be combined with --until and --fails-on")
        }
        let bytes = try bytes()
        if !force, let reason = family.wire.danger(bytes) {
            throw ValidationError(reason + "; --force sends it anyway")
        }
    }

    /// Returns the bytes to send before the line end.
    private func bytes() throws -> [UInt8] {
        if hex { return try TypedBytes.hex(line) }
        return escapes ? try TypedBytes.escaped(line) : Array(line.utf8)
    }

    func run(in context: CommandContext) async throws {
        let bytes = try bytes()
        let ends = answer.ends ?? (hex || escapes ? LineEnds.none : nil)
        let rules = answer.rules(context.timeout)
        // A command that listens for long must be able to send OFF for other programs, as the answer may never end.
        // Another program's `off` does not wait longer than the usual time-out.
        let isBrief = rules.quiet <= Self.longestPause && rules.timeout <= PumpSession.defaultTimeout
        let link = try await context.openLink(for: isBrief ? .oneCommand : .watching)
        try await withCleanup({ await link.close() }) {
            let exchange = LineExchange(with: context.family, over: link, clock: context.clock)
            for line in try await exchange.earlierLines() {
                context.output.note("pumpctl: received earlier: \(line.marked)")
            }
            if sendsBreak { try await link.sendBreak(for: .milliseconds(250)) }
            if noAnswer { return try await link.send(bytes + link.lineEnd(ends)) }
            let answer = try await exchange.send(bytes, ends: ends, rules) {
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
                    hint: context.family.hint(deviceError, to: bytes), deviceCode: deviceError)
            }
            if !answer.hasEnded {
                throw Failure(
                    .temporaryFailure, code: "no_answer",
                    "\(link.name): no complete answer in \(context.timeout.inSeconds) s",
                    hint: "raise --timeout, or name the last line of the answer with --until")
            }
        }
    }
}
