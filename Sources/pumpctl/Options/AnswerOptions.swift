import ArgumentParser
import DeviceKit

/// The options of a command that sends typed lines and waits for the answers.
struct AnswerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long a silence ends an answer.", valueName: "time"), transform: SecondsArgument.typed)
    var quiet = SecondsArgument(argument: "0.5")!

    @Option(
        help: ArgumentHelp(
            "What ends a line; without it a line feed. (values: lf, cr, crlf, none)", valueName: "ends"),
        transform: Self.lineEnds)
    var ends: LineEnds?

    @Option(
        help: ArgumentHelp(
            "The lines that end an answer, as 'ok|error:*'; '*' stands for any text.", valueName: "lines"),
        transform: Self.pattern)
    var until: LinePattern?

    @Option(
        help: ArgumentHelp("The lines that tell of an error, as 'error:*'; the exit code is 1.", valueName: "lines"),
        transform: Self.pattern)
    var failsOn: LinePattern?

    /// Returns the rules that decide when an answer is complete, and which lines report an error.
    ///
    /// - Parameter timeout: The time-out of an answer.
    func rules(_ timeout: Duration) -> AnswerRules {
        var rules = AnswerRules()
        (rules.timeout, rules.quiet, rules.end, rules.failure) = (timeout, quiet.duration, until, failsOn)
        return rules
    }

    private static func lineEnds(_ text: String) throws -> LineEnds {
        if let ends = LineEnds(rawValue: text) { return ends }
        throw ValidationError("--ends takes one of: \(LineEnds.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    private static func pattern(_ text: String) throws -> LinePattern {
        if let pattern = LinePattern(text) { return pattern }
        throw ValidationError("give lines separated by '|', none of them empty, as 'ok|error:*'")
    }
}
