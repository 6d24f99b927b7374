import ArgumentParser
import StrictJSON
import Verification

/// The output formats of a verification.
enum VerifyReport: String, CaseIterable, ExpressibleByArgument {
    case text, tap, junit, json

    /// Returns a report in this format.
    ///
    /// - Parameters:
    ///   - family: The family in the report, such as `pump` or, for programs that use a pump, `pump.host`.
    ///   - rounds: The number of times that all checks are made.
    ///   - columns: The meaning of `>` and `<` in transcripts.
    func form(
        _ family: String, rounds: Int, columns: TranscriptColumns = .ofFirmware
    ) -> any VerificationReport {
        switch self {
        case .text: TextReport(rounds: rounds, columns: columns)
        case .tap: TAPReport(rounds: rounds)
        case .junit: JUnitReport(family: family, columns: columns)
        case .json: JSONReport()
        }
    }

    /// Returns the entry of a check in `--list`.
    func listing(_ check: Check) -> String { listing(check.id, check.rule, check.needs) }

    func listing(_ id: String, _ rule: String, _ needed: Set<Check.Need> = []) -> String {
        let needs = Check.Need.allCases.filter(needed.contains)
        guard self == .json else {
            let options = needs.map(\.option)
            return
                "\(id)\(options.isEmpty ? "" : " (\(options.joined(separator: ", ")))")\n    \(rule)\n"
        }
        return JSONValue.object([
            "check": .text(id), "protocol": .text(rule),
            "needs": .array(needs.map { .text($0.rawValue) }),
        ]).json + "\n"
    }
}

extension Check.Need {
    /// The option that meets the need, with a placeholder for its value.
    var remedy: String { self == .stimulus ? "\(option) SOCKET" : option }

    /// The option that meets the need.
    fileprivate var option: String {
        switch self {
        case .run: "--allow-run"
        case .send: "--allow-send"
        case .stimulus: "--stimulus"
        }
    }
}

/// Results as JSON, one object a line, with a summary at the end.
struct JSONReport: VerificationReport {
    func beginning(count: Int) -> String { "" }

    func text(of result: CheckResult) -> String {
        var members: [String: JSONValue] = [
            "check": .text(result.id), "protocol": .text(result.rule), "round": .integer(result.round),
            "sent": Self.texts(result.sent), "received": Self.texts(result.received),
            "stimulus": Self.texts(result.done), "variants": Self.texts(result.variants),
        ]
        if let time = result.time { members["duration_ms"] = .number(time.inMilliseconds) }
        switch result.outcome {
        case .passed: members["outcome"] = "passed"
        case .skipped(let reason): (members["outcome"], members["reason"]) = ("skipped", .text(reason))
        case .failed(let expected, let got):
            members["outcome"] = "failed"
            (members["expected"], members["got"]) = (.text(expected), .text(got))
        }
        return JSONValue.object(members).json + "\n"
    }

    func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String {
        var timings: [String: JSONValue] = [:]
        for kind in Timings.Kind.allCases {
            guard let times = verdict.timings.summary(of: kind) else { continue }
            timings[kind.rawValue + "_ms"] = .object([
                "count": .integer(times.count), "min": .number(times.minimum), "median": .number(times.median),
                "p99": .number(times.percentile99), "max": .number(times.maximum),
            ])
        }
        var members: [String: JSONValue] = [
            "ok": .boolean(verdict.isPassed && reason == nil), "passed": .integer(verdict.passedCount),
            "failed": .integer(verdict.failedCount), "skipped": .integer(verdict.skippedCount),
            "timings": .object(timings),
        ]
        if let cause = verdict.commonCause { members["cause"] = .text(cause) }
        if let reason { (members["error"], members["message"]) = (.text(reason.code), .text(reason.message)) }
        return JSONValue.object(members).json + "\n"
    }

    func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String {
        JSONValue.object([
            "ok": .boolean(false), "error": .text(reason.code), "message": .text(reason.message),
        ]).json + "\n"
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .text($0) }) }
}

extension Duration {
    fileprivate var inMilliseconds: Double { (self / .milliseconds(1) * 1000).rounded() / 1000 }
}
