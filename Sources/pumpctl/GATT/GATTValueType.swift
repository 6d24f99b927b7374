import ArgumentParser
import LineProtocol

/// How the bytes of a value are written for people.
enum GATTValueType: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, hex
    case u8, i8, u16, i16, u32, i32, f32

    /// The types, for a person.
    static let list = allCases.map(\.rawValue).joined(separator: ", ")

    /// How many bytes one number takes; nil where the value is no row of numbers.
    var size: Int? {
        switch self {
        case .text, .hex: nil
        case .u8, .i8: 1
        case .u16, .i16: 2
        case .u32, .i32, .f32: 4
        }
    }

    /// What numbers of the type may be; nil where they are no whole numbers.
    private var range: ClosedRange<Int64>? {
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

    /// The bytes of a value that a person typed.
    ///
    /// - Parameters:
    ///   - words: Of text one; of hexadecimals and numbers any.
    ///   - isBigEndian: Whether a number's highest byte comes first.
    func bytes(of words: [String], isBigEndian: Bool) throws(ValueFlaw) -> [UInt8] {
        switch self {
        case .text:
            guard words.count == 1 else { throw ValueFlaw("text is one argument: write it in quotes") }
            return Array(words[0].utf8)
        case .hex:
            var bytes: [UInt8] = []
            for word in words { bytes += try Self.hex(word) }
            return bytes
        default:
            var bytes: [UInt8] = []
            for word in words {
                let bits = try bits(of: word)
                let number = (0..<(size ?? 0)).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
                bytes += isBigEndian ? number.reversed() : number
            }
            return bytes
        }
    }

    private func bits(of word: String) throws(ValueFlaw) -> UInt32 {
        guard let range else {
            guard let number = Float(word) else { throw ValueFlaw("'\(word)' is no number") }
            return number.bitPattern
        }
        let isNegative = word.hasPrefix("-")
        let digits = isNegative ? word.dropFirst() : word[...]
        let isHex = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let magnitude = isHex ? Int64(digits.dropFirst(2), radix: 16) : Int64(digits)
        guard let magnitude, digits.first != "-", digits.first != "+",
            range.contains(isNegative ? -magnitude : magnitude)
        else { throw ValueFlaw("'\(word)' is no \(rawValue): \(range.lowerBound) to \(range.upperBound)") }
        return UInt32(truncatingIfNeeded: isNegative ? -magnitude : magnitude)
    }

    /// Reads `0x01ff`, `01 ff`, `01:ff`, `01-ff`.
    static func hex(_ word: String) throws(ValueFlaw) -> [UInt8] {
        let digits = (word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word[...]).filter {
            !" :-".contains($0)
        }
        guard digits.count % 2 == 0, !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else {
            throw ValueFlaw("'\(word)' is not hexadecimal: two digits for each byte")
        }
        let all = Array(digits)
        return stride(from: 0, to: all.count, by: 2).compactMap { UInt8(String(all[$0...$0 + 1]), radix: 16) }
    }

    // MARK: Reading

    /// What bytes are as this type; nil where they are none, as three bytes are no `u16`.
    func value(of bytes: [UInt8], isBigEndian: Bool) -> GATTValue? {
        switch self {
        case .text: return String(validating: bytes, as: UTF8.self).map { .text($0) }
        case .hex: return .text(bytes.hexadecimal)
        default:
            guard let size, !bytes.isEmpty, bytes.count % size == 0 else { return nil }
            return .numbers(
                stride(from: 0, to: bytes.count, by: size).map { start in
                    let number = bytes[start..<start + size]
                    let ordered = isBigEndian ? Array(number) : number.reversed()
                    return self.number(ordered.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
                })
        }
    }

    private func number(_ bits: UInt32) -> GATTValue.Number {
        switch self {
        case .i8: .whole(Int64(Int8(truncatingIfNeeded: bits)))
        case .i16: .whole(Int64(Int16(truncatingIfNeeded: bits)))
        case .i32: .whole(Int64(Int32(truncatingIfNeeded: bits)))
        case .f32: .real(Float(bitPattern: bits))
        default: .whole(Int64(bits))
        }
    }
}

/// What is wrong with a value that a person typed.
struct ValueFlaw: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// A value as a type has it.
enum GATTValue: Encodable, Equatable {
    enum Number: Equatable {
        case whole(Int64)
        case real(Float)
    }

    case text(String)
    /// One, or several behind one another.
    case numbers([Number])

    /// For people.
    var phrase: String {
        switch self {
        case .text(let text): Array(text.utf8).printable()
        case .numbers(let numbers): numbers.map(\.text).joined(separator: " ")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .numbers(let numbers):
            if numbers.count == 1 { try container.encode(numbers[0]) } else { try container.encode(numbers) }
        }
    }
}

extension GATTValue.Number: Encodable {
    var text: String {
        switch self {
        case .whole(let number): "\(number)"
        case .real(let number): "\(number)"
        }
    }

    /// JSON has no number for infinity, and none for what is no number.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .whole(let number): try container.encode(number)
        case .real(let number): if number.isFinite { try container.encode(number) } else { try container.encodeNil() }
        }
    }
}
