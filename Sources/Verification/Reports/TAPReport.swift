internal import LineProtocol

/// Results as TAP 14 (testanything.org): a test point for each check. Those that passed or failed have the sent and
/// received lines, those that failed also the expected behaviour.
public struct TAPReport: VerificationReport {
    private let rounds: Int

    /// Creates a report.
    ///
    /// - Parameter rounds: The number of times that all checks are made.
    public init(rounds: Int = 1) { self.rounds = rounds }

    public func beginning(count: Int) -> String { "TAP version 14\n1..\(count)\n" }

    public func text(of result: CheckResult) -> String {
        let title = result.title(rounds: rounds)
        switch result.outcome {
        case .passed: return "ok - \(title)\n" + diagnostics(of: result)
        case .skipped(let reason): return "ok - \(title) # SKIP \(Self.escaped(reason))\n"
        case .failed: return "not ok - \(title)\n" + diagnostics(of: result)
        }
    }

    public func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String {
        var text = ""
        for kind in Timings.Kind.allCases {
            guard let times = verdict.timings.summary(of: kind) else { continue }
            text +=
                "# \(kind.rawValue)_ms min=\(times.minimum.shownMilliseconds) median=\(times.median.shownMilliseconds)"
            text += " p99=\(times.percentile99.shownMilliseconds) max=\(times.maximum.shownMilliseconds)\n"
        }
        if let cause = verdict.commonCause { text += "# \(Self.escaped(cause))\n" }
        return text + (reason.map(Self.bailOut) ?? "")
    }

    public func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String {
        (hasBegun ? "" : "TAP version 14\n") + Self.bailOut(reason)
    }

    private static func bailOut(_ reason: Abandonment) -> String { "Bail out! \(escaped(reason.message))\n" }

    /// Returns the details of a result as a YAML block in which all texts are quoted.
    private func diagnostics(of result: CheckResult) -> String {
        var lines = ["---", "protocol: \(Self.quoted(result.rule))"]
        if case .failed(let expected, let got) = result.outcome {
            lines += ["expected: \(Self.quoted(expected))", "got: \(Self.quoted(got))"]
        }
        for (name, texts) in [
            ("variants", result.variants), ("sent", result.sent), ("received", result.received),
            ("stimulus", result.done),
        ] where !texts.isEmpty {
            lines += ["\(name):"] + texts.map { "  - \(Self.quoted($0))" }
        }
        if let time = result.time { lines.append("duration_ms: \(time.milliseconds)") }
        return (lines + ["..."]).map { "  \($0)\n" }.joined()
    }

    /// Returns the text as a double-quoted YAML scalar.
    private static func quoted(_ text: String) -> String {
        var inside = ""
        for scalar in text.unicodeScalars {
            let digits = String(scalar.value, radix: 16)
            switch scalar {
            case "\\", "\"": inside += "\\\(scalar)"
            case _ where scalar.isPrintable: inside.unicodeScalars.append(scalar)
            default: inside += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            }
        }
        return "\"\(inside)\""
    }

    /// Returns a text for a line of TAP, in which a `#` would begin a directive such as SKIP.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("#", with: "\\#").printable()
    }
}
