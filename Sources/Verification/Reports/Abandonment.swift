/// The reason why a verification was not made or not completed, or why the device may not be off after it.
public struct Abandonment: Sendable, Hashable {
    /// A stable word for programs, such as `pump_runs`.
    public var code: String
    /// One sentence for people, without a full stop.
    public var message: String

    /// Creates a reason from a word for programs and a sentence for people.
    public init(code: String, message: String) { (self.code, self.message) = (code, message) }
}
