import Synchronization
import Verification

/// Prints a report while a verification is made. Where that ends before its time, the report says why.
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

    /// Prints what stands before the first result, once.
    ///
    /// - Parameter count: How many results there will be.
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

    func end(_ verdict: FirmwareVerdict) {
        state.withLock { $0.hasEnded = true }
        output.draw(report.ending(verdict))
    }

    /// Says why the verification was not made, or not to its end; nothing where the report has ended. With `--json`, each
    /// failure is printed by whoever runs the command.
    func abandon(_ failure: Failure) {
        let (results, hasBegun, hasEnded) = state.withLock { ($0.results, $0.hasBegun, $0.hasEnded) }
        guard !hasEnded, !output.isJSON else { return }
        let reason = Abandonment(code: failure.code, message: failure.message)
        output.draw(report.abandonment(results, hasBegun: hasBegun, reason))
    }
}
