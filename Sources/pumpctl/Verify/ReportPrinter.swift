import Synchronization
import Verification

/// Prints a report during a verification. If the verification ends early, the report says why.
final class ReportPrinter: Sendable {
    private struct State {
        var results: [CheckResult] = []
        var hasBegun = false
        var hasEnded = false
    }

    private let report: any VerificationReport
    private let output: Output
    private let state = Mutex(State())

    init(_ report: any VerificationReport, on output: Output) { (self.report, self.output) = (report, output) }

    /// Prints the report's beginning, once.
    ///
    /// - Parameter count: The number of results to expect.
    func begin(count: Int) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        if isFirst { output.draw(report.beginning(count: count)) }
    }

    func print(_ result: CheckResult) {
        state.withLock { $0.results.append(result) }
        output.draw(report.text(of: result))
    }

    /// Prints the end of the report.
    ///
    /// - Parameter reason: The reason why the checks were cut short, or why the device may not be off; nil if there is
    ///   none.
    func end(_ verdict: FirmwareVerdict, _ reason: Abandonment? = nil) {
        state.withLock { $0.hasEnded = true }
        output.draw(report.ending(verdict, reason))
    }

    /// Reports that the verification was not made or not completed, unless the report has ended. With `--json`, prints
    /// nothing: ``CommandRunner`` prints the failure.
    func abandon(_ failure: Failure) {
        let (results, hasBegun, hasEnded) = state.withLock { ($0.results, $0.hasBegun, $0.hasEnded) }
        guard !hasEnded, !output.isJSON else { return }
        output.draw(report.abandonment(results, hasBegun: hasBegun, Abandonment(failure)))
    }
}

extension Abandonment {
    /// Creates the reason from the code and the message of a failure.
    init(_ failure: Failure) { self.init(code: failure.code, message: failure.message) }
}
