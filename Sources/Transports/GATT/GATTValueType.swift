internal import LineProtocol

/// The text notation of a characteristic's value, for devices that no family describes.
///
/// ```swift
/// try GATTValueType.u16.bytes(of: "300")             // 2c 01, least significant byte first, GATT's byte order
/// GATTValueType.i16.content(of: [0xFE, 0xFF])?.text  // "-2"
/// ```
public enum GATTValueType: String, CaseIterable, Sendable, Hashable {
    /// UTF-8.
    case text
    /// Two hexadecimal digits per byte.
    case hex
    /// Integers of 8, 16 or 32 bits, unsigned (`u`) or signed (`i`).
    case u8, i8, u16, i16, u32, i32
    /// IEEE 754 numbers of 32 bits.
    case f32

    /// The size of one number in bytes; nil for types that are not numeric.
    private var size: Int? {
        switch self {
        case .text, .hex: nil
        case .u8, .i8: 1
        case .u16, .i16: 2
        case .u32, .i32, .f32: 4
        }
    }

    /// The range of an integer type; nil for other types.
    public var range: ClosedRange<Int64>? {
        switch self {
        case .text, .hex, .f32: nil
        case .u8: 0...0xFF
        case .i8: -0x80...0x7F
        case .u16: 0...0xFFFF
        case .i16: -0x8000...0x7FFF
        case .u32: 0...0xFFFF_FFFF
        case .i32: -0x8000_0000...0x7FFF_FFFF
        }
    }

    // MARK: Writing

    /// Encodes a text, hexadecimal digits such as `0x01ff`, `01 ff`, `01:ff` or `01-ff`, or one number such as `-2` or
    /// `0x1f`.
    ///
    /// - Parameters:
    ///   - text: The value in the notation of the type.
    ///   - isBigEndian: Whether a number has its most significant byte first.
    /// - Throws: ``GATTValueError`` if the text is not a value of the type.
    public func bytes(of text: String, isBigEndian: Bool = false) throws(GATTValueError) -> [UInt8] {
        if self == .text { return Array(text.utf8) }
        guard let size else { return try hexadecimals(text) }
        let bits = try bits(of: text)
        let number = (0..<size).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        return isBigEndian ? number.reversed() : number
    }

    private func bits(of text: String) throws(GATTValueError) -> UInt32 {
        guard let range else {
            guard let number = Float(text) else { throw GATTValueError(text, self) }
            return number.bitPattern
        }
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        let isHex = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let unsigned = isHex ? digits.dropFirst(2) : digits
        guard unsigned.first != "-", unsigned.first != "+", let magnitude = Int64(unsigned, radix: isHex ? 16 : 10),
            range.contains(isNegative ? -magnitude : magnitude)
        else { throw GATTValueError(text, self) }
        return UInt32(truncatingIfNeeded: isNegative ? -magnitude : magnitude)
    }

    private func hexadecimals(_ text: String) throws(GATTValueError) -> [UInt8] {
        let digits = (text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]).filter {
            !" :-".contains($0)
        }
        guard digits.count % 2 == 0, !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw GATTValueError(text, self)
        }
        let all = Array(digits)
        return stride(from: 0, to: all.count, by: 2).compactMap { UInt8(String(all[$0...$0 + 1]), radix: 16) }
    }

    // MARK: Reading

    /// Decodes bytes; nil if they are not a value of the type: three bytes are not a `u16`.
    ///
    /// - Parameters:
    ///   - bytes: The value of a characteristic, which may be several numbers.
    ///   - isBigEndian: Whether a number has its most significant byte first.
    public func content(of bytes: [UInt8], isBigEndian: Bool = false) -> GATTContent? {
        if self == .text { return String(validating: bytes, as: UTF8.self).map { .text($0) } }
        guard let size else { return .text(bytes.hexadecimal) }
        guard !bytes.isEmpty, bytes.count % size == 0 else { return nil }
        return .numbers(
            stride(from: 0, to: bytes.count, by: size).map { start in
                let number = bytes[start..<start + size]
                let ordered = isBigEndian ? Array(number) : number.reversed()
                return self.number(ordered.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            })
    }

    private func number(_ bits: UInt32) -> GATTContent.Number {
        switch self {
        case .i8: .whole(Int64(Int8(truncatingIfNeeded: bits)))
        case .i16: .whole(Int64(Int16(truncatingIfNeeded: bits)))
        case .i32: .whole(Int64(Int32(truncatingIfNeeded: bits)))
        case .f32: .real(Float(bitPattern: bits))
        default: .whole(Int64(bits))
        }
    }
}

/// A text that is not a value of its type.
public struct GATTValueError: Error, Sendable, Hashable {
    /// The rejected text.
    public let text: String
    /// The expected type.
    public let type: GATTValueType

    init(_ text: String, _ type: GATTValueType) {
        self.text = text
        self.type = type
    }
}

extension GATTValueError: CustomStringConvertible {
    public var description: String {
        switch (type, type.range) {
        case (_, let range?):
            "'\(text)' is not a value of type \(type.rawValue): \(range.lowerBound) to \(range.upperBound)"
        case (.hex, nil): "'\(text)' is not hexadecimal: two digits for each byte"
        default: "'\(text)' is not a number"
        }
    }
}
