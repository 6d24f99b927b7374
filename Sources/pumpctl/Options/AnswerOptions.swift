import ArgumentParser
import DeviceKit

/// The options of a command that sends typed lines and waits for the answers.
struct AnswerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Silence after which an answer is complete.", valueName: "time"),
        transform: SecondsArgument.typed)
    var quiet = SecondsArgument(argument: "0.5")!

    @Option(
        help: ArgumentHelp(
            "Line end to send (default: lf). (values: lf, cr, crlf, none)", valueName: "ends"),
        transform: Self.lineEnds)
    var ends: LineEnds?

    @Option(
        help: ArgumentHelp(
            "Lines that end an answer, e.g. 'ok|error:*'; '*' stands for any text.", valueName: "lines"),
        transform: Self.pattern)
    var until: LinePattern?

    @Option(
        help: ArgumentHelp("Lines that report an error, e.g. 'error:*'; the exit code is then 1.", valueName: "lines"),
        transform: Self.pattern)
    var failsOn: LinePattern?

    /// Returns the rules that decide when an answer is complete, and which lines report an error.
    ///
    /// - Parameter timeout: The longest time to wait for a complete answer.
    func rules(_ timeout: Duration) -> AnswerRules {
        var rules = AnswerRules()
        (rules.timeout, rules.quiet, rules.end, rules.failure) = (timeout, quiet.duration, until, failsOn)
        return rules
    }

    private static func lineEnds(_ text: String) throws -> LineEnds {
        if let ends = LineEnds(rawValue: text) { return ends }
        throw ValidationError("use: \(LineEnds.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    private static func pattern(_ text: String) throws -> LinePattern {
        if let pattern = LinePattern(text) { return pattern }
        throw ValidationError("use lines separated by '|', none of them empty, e.g. 'ok|error:*'")
    }
}
