/// The format of a report. The caller writes the returned texts in order: ``beginning(count:)``, the text of each
/// result when it comes, and ``ending(_:_:)``, or ``abandonment(_:hasBegun:_:)`` in place of the ending.
public protocol VerificationReport: Sendable {
    /// Returns the text before the first result.
    ///
    /// - Parameter count: The number of results to come.
    func beginning(count: Int) -> String
    /// Returns the text of a result; empty if the format writes all results at the end.
    func text(of result: CheckResult) -> String
    /// Returns the text after the last result.
    ///
    /// - Parameters:
    ///   - verdict: The findings of the verification.
    ///   - reason: The reason why the checks were cut short, or why the device may not be off; nil if there is none.
    func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String
    /// Returns the text that takes the place of the ending if there is no verdict.
    ///
    /// - Parameters:
    ///   - results: The results so far.
    ///   - hasBegun: Whether the text before the first result was written.
    ///   - reason: The reason why the verification ended early.
    func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String
}

extension CheckResult {
    /// Returns the id of the check, with the number of the repetition if there are several.
    func title(rounds: Int) -> String { rounds > 1 ? "\(id) (\(round))" : id }
}

extension Double {
    /// The time in milliseconds, rounded to two decimals.
    var shownMilliseconds: String { "\((self * 100).rounded() / 100)" }
}
