/// The value of an observation of a simulated device.
public enum ObservedValue: Sendable, Hashable {
    /// A text.
    case text(String)
    /// A whole number.
    case integer(Int)
    /// A number that may have a fraction.
    case number(Double)
    /// A truth value.
    case boolean(Bool)
}
