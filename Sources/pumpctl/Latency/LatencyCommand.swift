import ArgumentParser
import DeviceKit
import Latency
import LineProtocol

struct LatencyCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measure round trips, and show where their time goes.",
        discussion: """
            Repeats a question that changes nothing (TEMP, GET_LOG or LED), at random phases of the device's main loop. For a \
            device of the family raw, --question gives the question, and any line is an answer. Divides the time between wire, \
            adapter, carrier, firmware and host, as far as the arrival times allow; parts that cannot be separated are shown as \
            one part.
            """,
        example: "pumpctl --port /dev/ttyUSB0 latency --count 100")

    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("The number of questions (default: enough for about 10 s).", valueName: "number"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "The average pause before a question; choose a longer time than one turn of the firmware's loop.",
            valueName: "time"),
        transform: SecondsArgument.typed)
    var interval = SecondsArgument(argument: "150ms")!

    @Option(
        help: ArgumentHelp(
            "The question for a device of the family raw: a line that changes nothing.", valueName: "text"))
    var question: String?

    func validate() throws {
        guard (question != nil) == (shared.toldFamily == .raw) else {
            throw ValidationError(
                question == nil
                    ? "the family raw needs --question TEXT"
                    : "--question needs --family raw")
        }
        guard (1...100_000).contains(count ?? 1) else {
            throw ValidationError("--count must be from 1 to 100000")
        }
    }

    func run() throws {
        try CommandRunner.runToStatus(shared) { try await perform(in: $0).rawValue }
    }

    private func perform(in context: CommandContext) async throws -> ExitStatus {
        guard let question = self.question.map(LatencyQuestion.raw) ?? .named(context.family.name) else {
            let known = LatencyQuestion.all.map(\.family).joined(separator: ", ")
            throw Failure(
                .usage, code: "usage", "the family \(context.family) has no question that changes nothing",
                hint: "measure a device of another family: \(known)", outcome: "not_sent")
        }
        return try await LatencyRun(
            question: question, count: count ?? question.usualCount, interval: interval.duration, context: context
        ).run()
    }
}
