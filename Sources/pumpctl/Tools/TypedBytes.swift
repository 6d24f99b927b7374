import ArgumentParser

/// Parses bytes that a person types as text, with `send --hex` or `send --escapes`.
enum TypedBytes {
    /// Parses hexadecimal bytes of two digits each: `01 03`, `0103`, `0x01,0x03`.
    ///
    /// - Throws: `ValidationError` with the accepted form.
    static func hex(_ text: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for word in text.split(whereSeparator: { " ,:\t".contains($0) }) {
            let digits = Array(word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word)
            guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { throw noHex(word) }
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard digits[index].isHexDigit, let byte = UInt8(String(digits[index...(index + 1)]), radix: 16) else {
                    throw noHex(word)
                }
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func noHex(_ word: Substring) -> ValidationError {
        ValidationError("'\(word)' is not a hexadecimal byte; use two digits each, e.g. --hex '01 03'")
    }

    /// Parses text with escapes: `\n`, `\r`, `\t`, `\0`, `\e`, `\\`, and `\x` with two hexadecimal digits.
    ///
    /// - Throws: `ValidationError` with the accepted escapes.
    static func escaped(_ text: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "0"): bytes.append(0)
            case UInt8(ascii: "e"): bytes.append(0x1B)
            case UInt8(ascii: "\\"): bytes.append(byte)
            case UInt8(ascii: "x"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16)
                else { throw noEscape }
                rest.removeFirst(2)
                bytes.append(value)
            default: throw noEscape
            }
        }
        return bytes
    }

    private static let noEscape = ValidationError(
        "after '\\' use n, r, t, 0, e, '\\', or x and two hexadecimal digits, e.g. --escapes '?\\x18'")
}
