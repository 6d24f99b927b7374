internal import LineProtocol

/// The content of a value, decoded by a ``GATTValueType``.
///
/// In JSON, the content is a string, a number, or an array if there are several numbers. Infinity and NaN, which JSON
/// lacks, are null.
public enum GATTContent: Sendable, Hashable {
    /// A number in the range of its type.
    public enum Number: Sendable, Hashable {
        /// An integer.
        case whole(Int64)
        /// A number of the type ``GATTValueType/f32``.
        case real(Float)
    }

    /// Text, or hexadecimal digits.
    case text(String)
    /// One number, or several in the order of their bytes.
    case numbers([Number])

    /// The value for a person, on one line. Terminal control characters are escaped.
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
