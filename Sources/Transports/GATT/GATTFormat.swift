public import BlueZ
internal import LineProtocol

/// The format in which values of characteristics are shown.
public struct GATTFormat: Sendable, Hashable {
    /// The type of the values; nil if unknown. Values of unknown type are shown in hexadecimal.
    public var type: GATTValueType?
    /// Whether numbers have their most significant byte first.
    public var isBigEndian: Bool

    /// Creates a format; by default for values of unknown type.
    public init(type: GATTValueType? = nil, isBigEndian: Bool = false) {
        self.type = type
        self.isBigEndian = isBigEndian
    }

    /// Decodes a value; nil if the bytes are not a value of the type, or the type is unknown.
    public func content(of bytes: [UInt8]) -> GATTContent? { type?.content(of: bytes, isBigEndian: isBigEndian) }

    /// Returns a value for a person, on one line. Bytes that are not of the type are shown in hexadecimal, followed by
    /// the text if all of it is printable: `76 31  "v1"`.
    public func text(of bytes: [UInt8]) -> String {
        if let content = content(of: bytes) { return content.text }
        let text = bytes.printableText.map { "  \"\($0)\"" } ?? ""
        return bytes.isEmpty ? "(empty)" : bytes.hexadecimal + text
    }
}

/// A value of a characteristic, for output to programs.
///
/// In JSON the keys `service`, `characteristic`, `handle`, `name`, `hex` and `text` are always present; a format adds
/// `type` and `value`. Unknown values are null. `text` is null unless the whole value is printable.
public struct GATTReading: Sendable, Hashable {
    /// The characteristic.
    public let characteristic: GATTCharacteristic
    /// The value.
    public let bytes: [UInt8]
    /// The format for `type` and `value`; nil to leave them out, as for a value that was written.
    public let format: GATTFormat?

    /// Creates a reading.
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
    /// The bytes as text; nil if they are empty, or not all of the text is printable.
    fileprivate var printableText: String? {
        guard !isEmpty, let text = String(validating: self, as: UTF8.self), text.printable() == text else { return nil }
        return text
    }
}
