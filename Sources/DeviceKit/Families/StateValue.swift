/// A value of a device's state, as a program takes it that knows of the family only its row.
public enum StateValue: Sendable, Hashable {
    /// A number, in the unit of its field; what a broken sensor gives may be no finite one.
    case number(Double)
    /// A whole number, in the unit of its field.
    case integer(Int)
    /// Yes or no.
    case boolean(Bool)
    /// One of the words of its field, or text.
    case text(String)
}

extension StateValue: Encodable {
    /// The bare value: JSON has no number that is not finite, see ``StateField/isPlausible(_:)``.
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
