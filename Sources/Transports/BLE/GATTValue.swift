public import BlueZ

/// A value that a BLE device holds in a characteristic, and its representation in lines.
///
/// The sent line `NAME` requests the value, and `NAME:VALUE` sets it. The received line `NAME:VALUE` reports the value:
///
///     GATTValue("FAN", characteristic: "FFB3", encoding: .boolean)    // FAN  FAN:0  FAN:1
public struct GATTValue: Sendable, Hashable {
    /// The operations of a value, as far as its characteristic supports them.
    public struct Access: OptionSet, Sendable, Hashable {
        /// The bits of the options.
        public let rawValue: UInt8
        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The value can be read.
        public static let read = Access(rawValue: 1)
        /// The value can be written.
        public static let write = Access(rawValue: 2)
        /// The device notifies changes of the value.
        public static let notify = Access(rawValue: 4)
        /// All operations.
        public static let all: Access = [.read, .write, .notify]
    }

    /// The encoding of a value in its characteristic and in lines.
    public enum Encoding: Sendable, Hashable {
        /// One byte: 0 is off, any other value is on; in lines `0` or `1`.
        ///
        /// Also reads a little-endian number of 2 or 4 bytes in which all bytes except the first are 0: `setValue(int)`
        /// of an ESP32 creates such values.
        case boolean
        /// An unsigned little-endian number of 1 to 8 bytes; in lines its decimal digits.
        case unsigned(byteCount: Int)
        /// UTF-8 of at most 512 bytes; the same text in lines.
        case text
    }

    /// The name in lines. Letter case matters.
    public let name: String
    /// The service of the characteristic; nil for any.
    public let service: BluetoothUUID?
    /// The characteristic that holds the value.
    public let characteristic: BluetoothUUID
    /// The operations of the value.
    public let access: Access
    /// The encoding of the value.
    public let encoding: Encoding

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - name: The name in lines, without `:` and line ends.
    ///   - service: The service of the characteristic; nil for any.
    ///   - characteristic: The characteristic that holds the value.
    ///   - access: The operations of the value.
    ///   - encoding: The encoding of the value.
    public init(
        _ name: String, service: BluetoothUUID? = nil, characteristic: BluetoothUUID, access: Access = .all,
        encoding: Encoding
    ) {
        self.name = name
        self.service = service
        self.characteristic = characteristic
        self.access = access
        self.encoding = encoding
    }

    /// Returns the line that reports the content of the characteristic, without the line end.
    ///
    /// Bytes that are not a valid value are reported in hexadecimal after `0x`, which no Boolean value and no number
    /// begins with.
    public func line(bytes: [UInt8]) -> String {
        let digits = bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(name):\(encoding.text(bytes: bytes) ?? "0x" + digits)"
    }
}

extension GATTValue.Encoding {
    /// Converts the content of a characteristic to its text in lines; nil if the bytes are not a valid value.
    public func text(bytes: [UInt8]) -> String? {
        switch self {
        case .boolean:
            guard [1, 2, 4].contains(bytes.count), bytes.dropFirst().allSatisfy({ $0 == 0 }) else { return nil }
            return bytes[0] == 0 ? "0" : "1"
        case .unsigned(let byteCount):
            guard bytes.count == byteCount, (1...8).contains(byteCount) else { return nil }
            return String(bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        case .text:
            // A line end would split the value into two lines.
            guard !bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    /// Converts the text of a line to the bytes to write to the characteristic; nil if the text is not a valid value.
    public func bytes(text: some StringProtocol) -> [UInt8]? {
        switch self {
        case .boolean: return text == "0" ? [0] : text == "1" ? [1] : nil
        case .unsigned(let byteCount):
            // UInt64(_:) alone would accept a sign.
            let isDigits = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isDigits, let number = UInt64(text), (1...8).contains(byteCount), number >> (8 * byteCount) == 0
            else {
                return nil
            }
            return (0..<byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        case .text: return text.utf8.count <= 512 ? Array(text.utf8) : nil
        }
    }
}
