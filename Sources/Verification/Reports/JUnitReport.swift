internal import LineProtocol

/// Results as JUnit XML, which CI servers read. The whole document is the text of the ending, or of the abandonment,
/// because it begins with the counts.
public struct JUnitReport: VerificationReport {
    private let family: String
    private let columns: TranscriptColumns

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - family: The name of the test suite.
    ///   - columns: The meaning of `>` and `<` in transcripts.
    public init(family: String, columns: TranscriptColumns = .ofFirmware) {
        (self.family, self.columns) = (family, columns)
    }

    public func beginning(count: Int) -> String { "" }

    public func text(of result: CheckResult) -> String { "" }

    public func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String {
        document(verdict.results, reason, cause: verdict.commonCause)
    }

    public func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String {
        document(results, reason)
    }

    /// - Parameters:
    ///   - error: The reason why the verification ended early, or why the device may not be off, reported as a test
    ///     case of its own; nil if there is none.
    ///   - cause: The sentence of ``FirmwareVerdict/commonCause``; nil if there is none.
    private func document(_ results: [CheckResult], _ error: Abandonment?, cause: String? = nil) -> String {
        let times = results.compactMap(\.time)
        let time = Self.attribute(times.isEmpty ? nil : times.reduce(.zero, +))
        let failed = results.count { $0.isFailure }
        let skipped = results.count { if case .skipped = $0.outcome { true } else { false } }
        let counts =
            "tests=\"\(results.count + (error == nil ? 0 : 1))\" failures=\"\(failed)\" "
            + "errors=\"\(error == nil ? 0 : 1)\" skipped=\"\(skipped)\"\(time)"
        let cases =
            results.map { testCase($0, rounds: results.last?.round ?? 1) }.joined() + (error.map(testCase) ?? "")
            + (cause.map { "    <system-out>\(Self.escaped($0))</system-out>\n" } ?? "")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts)>
              <testsuite name="\(family)" \(counts)>
            \(cases)  </testsuite>
            </testsuites>

            """
    }

    private func testCase(_ result: CheckResult, rounds: Int) -> String {
        let start =
            "    <testcase classname=\"\(family)\" name=\"\(result.title(rounds: rounds))\"\(Self.attribute(result.time))"
        switch result.outcome {
        case .passed: return start + "/>\n"
        case .skipped(let reason):
            return start + ">\n      <skipped message=\"\(Self.escaped(reason))\"/>\n    </testcase>\n"
        case .failed(let expected, let got):
            let lines = [result.rule] + (result.steps.isEmpty ? [] : [columns.legend]) + result.steps.map(\.shown)
            let text = (lines + ["expected: \(expected)", "got: \(got)"]).map(Self.escaped).joined(separator: "\n")
            let message = Self.escaped("expected \(expected), got \(got)")
            return start + ">\n      <failure message=\"\(message)\">\(text)</failure>\n    </testcase>\n"
        }
    }

    private func testCase(_ error: Abandonment) -> String {
        """
            <testcase classname="\(family)" name="\(family).verification">
              <error type="\(Self.escaped(error.code))" message="\(Self.escaped(error.message))"/>
            </testcase>

        """
    }

    /// The time as an attribute, in seconds with milliseconds; empty if `time` is nil.
    private static func attribute(_ time: Duration?) -> String {
        guard let time else { return "" }
        let milliseconds = Int(time.milliseconds.rounded())
        return " time=\"\(milliseconds / 1000).\("\(1000 + milliseconds % 1000)".suffix(3))\""
    }

    /// Escapes text for XML. A device can send any character, so characters that XML 1.0 forbids are replaced first.
    private static func escaped(_ text: String) -> String {
        text.printable().replacing("\u{FFFE}", with: "?").replacing("\u{FFFF}", with: "?")
            .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&apos;")
    }
}
