internal import LineProtocol

/// What the bytes of a value are as a ``GATTValueType``.
///
/// In JSON it is a string, a number, or where there are several numbers an array of them. What JSON has no number for,
/// infinity and what is no number, is null.
public enum GATTContent: Sendable, Hashable {
    /// A number as its type has it.
    public enum Number: Sendable, Hashable {
        /// Of the whole numbers.
        case whole(Int64)
        /// Of `f32`.
        case real(Float)
    }

    /// Text, or hexadecimals.
    case text(String)
    /// One number, or several behind one another.
    case numbers([Number])

    /// The value for a person, on one line; what a terminal acts on is escaped.
    public var text: String {
        switch self {
        case .text(let text): text.printable()
        case .numbers(let numbers): numbers.map(\.text).joined(separator: " ")
        }
    }
}

extension GATTContent: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .numbers(let numbers):
            if numbers.count == 1 { try container.encode(numbers[0]) } else { try container.encode(numbers) }
        }
    }
}

extension GATTContent.Number: Encodable {
    fileprivate var text: String {
        switch self {
        case .whole(let number): "\(number)"
        case .real(let number): "\(number)"
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .whole(let number): try container.encode(number)
        case .real(let number): if number.isFinite { try container.encode(number) } else { try container.encodeNil() }
        }
    }
}
