/// A value of a device's state, for programs that know only the family's fields.
public enum StateValue: Sendable, Hashable {
    /// A number in the unit of its field. A broken sensor may deliver a number that is not finite.
    case number(Double)
    /// An integer in the unit of its field.
    case integer(Int)
    /// A Boolean value.
    case boolean(Bool)
    /// A text, or a word from the list of its field.
    case text(String)
}

extension StateValue: Encodable {
    /// Encodes the bare value. JSON can't represent a number that is not finite: encode only plausible values
    /// (``StateField/isPlausible(_:)``).
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        }
    }
}
