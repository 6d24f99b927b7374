import ArgumentParser
import DeviceKit
import Latency
import LineProtocol

struct LatencyCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measure round trips, and show where their time goes.",
        discussion: """
            Asks the device again and again, at random phases of its main loop, by a question that changes nothing: TEMP, \
            GET_LOG or LED. A device of the family raw is asked what --question says, which any line answers. Attributes the time to wire, adapter, carrier, firmware and host, as far as the times of what \
            arrives tell. What can't be told apart is shown as one part.
            """,
        example: "pumpctl --port /dev/ttyUSB0 latency --count 100")

    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("How many questions to ask; without it for some 10 s.", valueName: "number"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "How long to wait before each question, on average; make it longer than the firmware's loop.",
            valueName: "time"),
        transform: SecondsArgument.typed)
    var interval = SecondsArgument(argument: "150ms")!

    @Option(
        help: ArgumentHelp(
            "The line to ask a device of the family raw; choose one that changes nothing.", valueName: "text"))
    var question: String?

    func validate() throws {
        guard (question != nil) == (shared.toldFamily == .raw) else {
            throw ValidationError(
                question == nil
                    ? "a device of the family raw is asked what you say: add --question TEXT"
                    : "--question is for devices of no known family: add --family raw")
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
                .usage, code: "usage", "there is no question that changes nothing for the family \(context.family)",
                hint: "measure a device of another family: \(known)", outcome: "not_sent")
        }
        return try await LatencyRun(
            question: question, count: count ?? question.usualCount, interval: interval.duration, context: context
        ).run()
    }
}
