/// Why a verification was not made, or not to its end.
public struct Abandonment: Sendable, Hashable {
    /// A stable word for programs: `pump_runs`.
    public var code: String
    /// In one sentence, without a full stop.
    public var message: String

    /// A reason, as a word for programs and as a sentence.
    public init(code: String, message: String) { (self.code, self.message) = (code, message) }
}
