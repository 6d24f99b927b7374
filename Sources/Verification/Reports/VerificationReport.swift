/// A form in which results are told, a piece of text at a time.
public protocol VerificationReport: Sendable {
    /// What stands before the first result.
    ///
    /// - Parameter count: How many results there will be.
    func beginning(count: Int) -> String
    /// A result; nothing where the form has all of them at its end.
    func text(of result: CheckResult) -> String
    /// What stands behind the last result.
    ///
    /// - Parameter reason: Why the checks came to no proper end, beside those that failed; nil if they did.
    func ending(_ verdict: FirmwareVerdict, _ reason: Abandonment?) -> String
    /// What stands in place of the ending where a verification was not made, or not to its end.
    ///
    /// - Parameters:
    ///   - results: Those that there are.
    ///   - hasBegun: Whether the beginning was told.
    func abandonment(_ results: [CheckResult], hasBegun: Bool, _ reason: Abandonment) -> String
}

extension CheckResult {
    /// Its name, with the repetition where there are several.
    func title(rounds: Int) -> String { rounds > 1 ? "\(id) (\(round))" : id }
}

extension Double {
    /// Rounded to two decimals, as times are told.
    var shownMilliseconds: String { "\((self * 100).rounded() / 100)" }
}
