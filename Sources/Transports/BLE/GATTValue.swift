public import BlueZ

/// A value that a BLE device holds in a characteristic, as it is said in lines.
///
/// `NAME` on a line asks for the value, `NAME:VALUE` sets it and tells of it:
///
///     GATTValue("FAN", characteristic: "FFB3", encoding: .boolean)    // FAN  FAN:0  FAN:1
public struct GATTValue: Sendable, Hashable {
    /// What can be done with a value, as far as its characteristic allows it.
    public struct Access: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// It can be asked for.
        public static let read = Access(rawValue: 1)
        /// It can be set.
        public static let write = Access(rawValue: 2)
        /// The device tells of it unasked.
        public static let notify = Access(rawValue: 4)
        /// All of them.
        public static let all: Access = [.read, .write, .notify]
    }

    /// How a value is written.
    public enum Encoding: Sendable, Hashable {
        /// One byte, 0 = off, else on; read also as a number of 2 or 4 bytes, the lowest first, of which all but the first
        /// are 0, as an ESP32's `setValue(int)` makes it. On a line `0` or `1`.
        case boolean
        /// A number without a sign of 1 to 8 bytes, the lowest first. On a line its decimal digits.
        case unsigned(byteCount: Int)
        /// UTF-8 of at most 512 bytes. On a line as it is.
        case text
    }

    /// What it is called on a line, letter for letter.
    public let name: String
    /// The service that its characteristic belongs to; nil for any.
    public let service: BluetoothUUID?
    /// What holds it.
    public let characteristic: BluetoothUUID
    /// What can be done with it.
    public let access: Access
    /// How it is written.
    public let encoding: Encoding

    /// A value of a device.
    ///
    /// - Parameter name: Without `:` or a line end.
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

    /// The line that tells what its characteristic holds, without its end; where those bytes are no value, in
    /// hexadecimals, which are no value of a boolean or a number on a line either.
    public func line(bytes: [UInt8]) -> String {
        let digits = bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(name):\(encoding.text(bytes: bytes) ?? "0x" + digits)"
    }
}

extension GATTValue.Encoding {
    /// What a characteristic holds, as it stands on a line; nil where those bytes are no value.
    public func text(bytes: [UInt8]) -> String? {
        switch self {
        case .boolean:
            guard [1, 2, 4].contains(bytes.count), bytes.dropFirst().allSatisfy({ $0 == 0 }) else { return nil }
            return bytes[0] == 0 ? "0" : "1"
        case .unsigned(let byteCount):
            guard bytes.count == byteCount, (1...8).contains(byteCount) else { return nil }
            return String(bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        case .text:
            // A line end would make two lines of it.
            guard !bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    /// What a characteristic is written to set what stands on a line; nil where that is no value.
    public func bytes(text: some StringProtocol) -> [UInt8]? {
        switch self {
        case .boolean: return text == "0" ? [0] : text == "1" ? [1] : nil
        case .unsigned(let byteCount):
            // UInt64 would take a sign.
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
