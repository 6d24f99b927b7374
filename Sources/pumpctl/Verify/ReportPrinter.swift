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

    /// - Parameter reason: Why the checks came to no proper end, beside those that failed; nil if they did.
    func end(_ verdict: FirmwareVerdict, _ reason: Abandonment? = nil) {
        state.withLock { $0.hasEnded = true }
        output.draw(report.ending(verdict, reason))
    }

    /// Says why the verification was not made, or not to its end; nothing where the report has ended. With `--json`, each
    /// failure is printed by whoever runs the command.
    func abandon(_ failure: Failure) {
        let (results, hasBegun, hasEnded) = state.withLock { ($0.results, $0.hasBegun, $0.hasEnded) }
        guard !hasEnded, !output.isJSON else { return }
        output.draw(report.abandonment(results, hasBegun: hasBegun, Abandonment(failure)))
    }
}

extension Abandonment {
    /// As the program tells of it.
    init(_ failure: Failure) { self.init(code: failure.code, message: failure.message) }
}
