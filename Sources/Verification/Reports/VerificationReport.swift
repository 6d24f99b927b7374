/// A report format, which writes results as they come.
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
    ///   - reason: The reason why the checks were cut short; nil if they were not. A failed check is no such reason.
    func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String
    /// Returns the text that takes the place of the ending if a verification was not made, or not completed.
    ///
    /// - Parameters:
    ///   - results: The results so far.
    ///   - hasBegun: Whether the text before the first result was written.
    ///   - reason: The reason why the verification ended early.
    func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String
}

extension CheckResult {
    /// The name of the check, with the repetition if there are several.
    func title(rounds: Int) -> String { rounds > 1 ? "\(id) (\(round))" : id }
}

extension Double {
    /// The time in milliseconds, rounded to two decimals.
    var shownMilliseconds: String { "\((self * 100).rounded() / 100)" }
}
