public import BlueZ
internal import LineProtocol

/// How values of characteristics are shown: as a type, or in hexadecimals where none is named.
public struct GATTFormat: Sendable, Hashable {
    /// What the values are; nil where that is not known.
    public var type: GATTValueType?
    /// Whether a number's highest byte comes first.
    public var isBigEndian: Bool

    /// A format; by default for values of which nothing is known.
    public init(type: GATTValueType? = nil, isBigEndian: Bool = false) {
        self.type = type
        self.isBigEndian = isBigEndian
    }

    /// The value as its type has it; nil where it is none of the type, or no type is named.
    public func content(of bytes: [UInt8]) -> GATTContent? { type?.content(of: bytes, isBigEndian: isBigEndian) }

    /// A value for a person, on one line. What is none of its type is shown in hexadecimals, and where all of it is printable
    /// as text too: `76 31  "v1"`.
    public func text(of bytes: [UInt8]) -> String {
        if let content = content(of: bytes) { return content.text }
        let text = bytes.printableText.map { "  \"\($0)\"" } ?? ""
        return bytes.isEmpty ? "(empty)" : bytes.hexadecimal + text
    }
}

/// A value of a characteristic, for programs.
///
/// In JSON it has always the keys `service`, `characteristic`, `handle`, `name`, `hex` and `text`, and with a format `type`
/// and `value`. What is unknown is null, as is the text where not all of the value is printable.
public struct GATTReading: Sendable, Hashable {
    /// What has the value.
    public let characteristic: GATTCharacteristic
    /// The value.
    public let bytes: [UInt8]
    /// How it is shown; nil where only its bytes count, as of a value that was written.
    public let format: GATTFormat?

    /// A value.
    public init(_ bytes: [UInt8], of characteristic: GATTCharacteristic, as format: GATTFormat? = nil) {
        self.characteristic = characteristic
        self.bytes = bytes
        self.format = format
    }
}

extension GATTReading: Encodable {
    private enum CodingKeys: CodingKey { case service, characteristic, handle, name, hex, text, type, value }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(characteristic.service)", forKey: .service)
        try container.encode("\(characteristic.uuid)", forKey: .characteristic)
        try container.encode(characteristic.handle, forKey: .handle)
        try container.encode(characteristic.knownName, forKey: .name)
        try container.encode(bytes.hexadecimal, forKey: .hex)
        try container.encode(bytes.printableText, forKey: .text)
        guard let format else { return }
        try container.encode(format.type?.rawValue, forKey: .type)
        try container.encode(format.content(of: bytes), forKey: .value)
    }
}

extension [UInt8] {
    /// The bytes as text, where all of it is printable and there is some.
    fileprivate var printableText: String? {
        guard !isEmpty, let text = String(validating: self, as: UTF8.self), text.printable() == text else { return nil }
        return text
    }
}
