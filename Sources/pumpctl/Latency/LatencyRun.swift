import DeviceKit
import Latency
import LineProtocol
import Synchronization
import Terminal

/// A latency measurement: opens the link, shows the progress, and prints the report.
struct LatencyRun: Sendable {
    let question: LatencyQuestion
    /// The number of questions to send.
    let count: Int
    /// The average pause before a question.
    let interval: Duration
    let context: CommandContext

    /// Opens the link, measures, and prints the report.
    ///
    /// - Returns: The program's exit status.
    func run() async throws -> ExitStatus {
        let endpoint = try context.endpoint(ofOneOf: LatencyQuestion.all.map(\.family))
        // OFF of another program is sent at once, and ends the measurement.
        let stop = OffStop()
        let link = try await context.openLink(endpoint, for: .watching, onStop: stop.take, note: context.output.note)
        let result = Mutex<LatencyRecord?>(nil)
        do {
            try await withCleanup({ await link.close() }) {
                try await stop.run(on: context.loop) {
                    let record = try await measure(link)
                    result.withLock { $0 = record }
                }
            }
        } catch let error as LatencyError {
            throw Failure(error, question, link, context)
        } catch is CancellationError where stop.wasTaken {
            throw Failure(
                .refused, code: "stopped", "another pumpctl has asked for OFF",
                hint: "find out which program sent OFF; then repeat the command")
        }
        let carrier = LatencyCarrier(of: link, at: endpoint)
        guard let record = result.withLock(\.self),
            let report = LatencyReport(record, question, over: carrier, interval: interval)
        else { throw CancellationError() }
        let text = LatencyText(report, record, question, carrier, place: link.name)
        guard record.isMostlyUnanswered else {
            context.output.result(text.text, text.record)
            return .done
        }
        // The results are printed despite the failure, and programs get both in one object.
        let failure = Failure(mostlyUnanswered: record, question, link)
        context.output.result(text.text, ResultRecord(text.record, with: failure.record))
        context.output.note("pumpctl: \(failure.message.printable())", hint: failure.hint)
        return failure.status
    }

    private func measure(_ link: any Link) async throws -> LatencyRecord {
        var random = SystemRandomNumberGenerator()
        let pauses = QuestionPauses.make(count: count, interval: interval, using: &random)
        let measurement = LatencyMeasurement(
            question, over: link, clock: context.clock, pauses: pauses,
            timeout: context.options.timeout?.duration ?? .seconds(2))
        let showsProgress = !context.options.verbose && StandardStream.error.isTerminal
        defer { if showsProgress { context.output.progress("") } }
        return try await measurement.run { asked in
            if showsProgress { context.output.progress("\(question.text): \(asked) of \(count)") }
        }
    }
}

extension Failure {
    /// Creates the failure for a measurement with too few replies. Only queries were sent.
    fileprivate init(mostlyUnanswered record: LatencyRecord, _ question: LatencyQuestion, _ link: any Link) {
        self.init(
            .temporaryFailure, code: "mostly_unanswered",
            "\(link.name): \(record.unansweredCount) of \(record.questionCount.counted("question")) had no answer "
                + "in time",
            hint: "raise --timeout; '-v' shows what is sent and received", outcome: "nothing_changed")
    }

    /// Creates the failure for a measurement without a result. Only queries were sent.
    fileprivate init(
        _ error: LatencyError, _ question: LatencyQuestion, _ link: any Link, _ context: CommandContext
    ) {
        switch error {
        case .noAnswer(let time):
            self.init(
                .temporaryFailure, code: "no_answer",
                "\(link.name): no answer to \(question.text) in \(time.inSeconds) s",
                hint: link.silenceHint ?? DevicePlace.adviceOnSilence(at: context.place, context.family),
                outcome: "nothing_changed")
        case .notUnderstood(let line):
            self.init(
                .protocolError, code: "not_understood",
                "\(link.name): unexpected reply to \(question.text): \(line.printable(limit: 60))",
                hint: DevicePlace.adviceOnUnknownReply(line, at: context.place, context.family),
                outcome: "nothing_changed")
        }
    }
}
