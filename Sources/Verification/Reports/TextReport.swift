internal import LineProtocol

/// Results for people: a line for each check, details of failures with the last 12 steps of the transcript, times, and
/// a summary.
public struct TextReport: VerificationReport {
    /// Creates a report on a firmware, or on a program that uses a device.
    ///
    /// - Parameters:
    ///   - rounds: The number of times that all checks are made.
    ///   - columns: The meaning of `>` and `<` in transcripts.
    public init(rounds: Int = 1, columns: TranscriptColumns = .ofFirmware) {
        (self.rounds, self.columns) = (rounds, columns)
    }

    private let rounds: Int
    private let columns: TranscriptColumns

    public func beginning(count: Int) -> String { "" }

    public func text(of result: CheckResult) -> String {
        let title = result.title(rounds: rounds)
        switch result.outcome {
        case .passed:
            let variants = result.variants.isEmpty ? "" : "  (\(result.variants.joined(separator: "; ")))"
            return "ok    \(title)\(variants)\n"
        case .skipped(let reason): return "skip  \(title): \(reason)\n"
        case .failed(let expected, let got):
            var lines = ["FAIL  \(title)", "        \(result.rule)"]
            lines += result.steps.suffix(12).map { "        " + $0.shown }
            lines += ["        expected: \(expected)", "        got:      \(got)"]
            return lines.map { $0.printable() }.joined(separator: "\n") + "\n"
        }
    }

    /// Returns the times and the summary. The reason is not included, since the program prints it.
    public func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String {
        var text = ""
        for kind in Timings.Kind.allCases {
            guard let times = verdict.timings.summary(of: kind) else { continue }
            let name = kind.rawValue.split(separator: "_").joined(separator: " ")
            let values = [
                ("min", times.minimum), ("median", times.median), ("p99", times.percentile99), ("max", times.maximum),
            ].map { "\($0) \($1.shownMilliseconds)" }
            text += "time  \(name): \(values.joined(separator: ", ")) ms (\(times.count))\n"
        }
        if verdict.results.contains(where: { $0.isFailure && !$0.steps.isEmpty }) {
            text += "lines \(columns.legend)\n"
        }
        if let cause = verdict.commonCause { text += "cause \(cause.printable())\n" }
        return text + "\(verdict.passedCount) passed, \(verdict.failedCount) failed, \(verdict.skippedCount) skipped\n"
    }

    /// Returns an empty text: the program prints the reason itself.
    public func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String { "" }
}

/// The meaning of `>` and `<` in the transcript of a failed check.
public struct TranscriptColumns: Sendable, Hashable {
    /// The explanation for people.
    public let legend: String

    /// The columns of a test of a device.
    public static let ofFirmware = Self(legend: "> sent to the device, < received from the device")
    /// The columns of a test of a program, to which pumpctl plays the device.
    public static let ofHost = Self(legend: "> sent by the played device, < sent by the program")
}

extension CheckResult.Step {
    /// One line of a transcript, such as `> STATUS\n`: sent (`>`), received (`<`), or done at the device (`*`).
    var shown: String {
        switch self {
        case .sent(let bytes): "> \(bytes.shown)"
        case .received(let bytes): "< \(bytes.shown)"
        case .did(let verb): "* \(verb)"
        case .leftOut(let count): "< … \(count) more lines"
        }
    }
}
