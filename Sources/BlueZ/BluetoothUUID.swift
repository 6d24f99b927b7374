/// The identifier of a service, a characteristic or a descriptor.
///
///     BluetoothUUID("FFE0") == BluetoothUUID("0000ffe0-0000-1000-8000-00805f9b34fb")    // true
///
/// A UUID of 16 or 32 bits stands for the Bluetooth base UUID with these bits in its first part.
public struct BluetoothUUID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// Creates a UUID of 16 or 32 bits.
    public init(_ short: UInt32) {
        self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow)
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a UUID of 128 bits. The first digit has the most significant bits.
    public init(bits: UInt128) {
        self.init(high: UInt64(truncatingIfNeeded: bits >> 64), low: UInt64(truncatingIfNeeded: bits))
    }

    /// The 128 bits. The first digit has the most significant bits.
    public var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// Parses 4 or 8 hexadecimal digits, or 32 digits with dashes, in any letter case; nil if `text` has another form.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        switch bytes.count {
        case 4, 8:
            guard let short = Self.number(bytes[...]) else { return nil }
            self.init(UInt32(short))
        case 36:
            let dash = UInt8(ascii: "-")
            guard [8, 13, 18, 23].allSatisfy({ bytes[$0] == dash }),
                let high = Self.number(bytes[0..<8] + bytes[9..<13] + bytes[14..<18]),
                let low = Self.number(bytes[19..<23] + bytes[24..<36])
            else { return nil }
            self.init(high: high, low: low)
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = HexDigit.value(of: digit) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    /// The 16-bit form; nil if there is none.
    public var shortValue: UInt16? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt16(exactly: high >> 32)
    }

    /// The length in an advertisement, in bytes: 2, 4 or 16.
    public var advertisedLength: Int {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return 16 }
        return shortValue == nil ? 4 : 2
    }

    /// All 32 digits with dashes, in lower case, bluetoothd's notation.
    public var text: String {
        let digits = HexDigit.text(high, 16) + HexDigit.text(low, 16)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}

extension BluetoothUUID: CustomStringConvertible, ExpressibleByStringLiteral {
    /// The 16-bit form, such as `FFE0`; ``text`` if there is none.
    public var description: String {
        shortValue.map { HexDigit.text(UInt64($0), 4).uppercased() } ?? text
    }

    /// Creates a UUID from a literal.
    ///
    /// - Precondition: The literal is a UUID.
    public init(stringLiteral text: StaticString) {
        guard let uuid = BluetoothUUID("\(text)") else { preconditionFailure("\(text) is not a UUID") }
        self = uuid
    }
}

/// Conversions of hexadecimal digits.
enum HexDigit {
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns a number as at least `count` hexadecimal digits, in lower case.
    static func text(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
