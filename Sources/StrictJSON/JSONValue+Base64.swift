// Bytes as a string in base64 with padding (RFC 4648, section 4).
extension JSONValue {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The value of each digit; 255 for other bytes.
    private static let values = {
        var values = [UInt8](repeating: .max, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// A string with `content` in base64.
    package static func base64(_ content: [UInt8]) -> JSONValue {
        let (digits, pad) = (digits, UInt8(ascii: "="))
        var json: [UInt8] = []
        json.reserveCapacity((content.count + 2) / 3 * 4 + 2)
        json.append(UInt8(ascii: "\""))
        let wholeGroups = content.count / 3 * 3
        for index in stride(from: 0, to: wholeGroups, by: 3) {
            let bits = Int(content[index]) << 16 | Int(content[index + 1]) << 8 | Int(content[index + 2])
            json.append(digits[bits >> 18])
            json.append(digits[bits >> 12 & 63])
            json.append(digits[bits >> 6 & 63])
            json.append(digits[bits & 63])
        }
        switch content.count - wholeGroups {
        case 1:
            let bits = Int(content[wholeGroups])
            json += [digits[bits >> 2], digits[bits << 4 & 63], pad, pad]
        case 2:
            let bits = Int(content[wholeGroups]) << 8 | Int(content[wholeGroups + 1])
            json += [digits[bits >> 10], digits[bits >> 4 & 63], digits[bits << 2 & 63], pad]
        default: break
        }
        json.append(UInt8(ascii: "\""))
        return JSONValue(valid: json[...])
    }

    /// The bytes that a string stands for in base64; nil for any other value, and for a string with escapes.
    package var base64: [UInt8]? {
        guard isText, bytes.count % 4 == 2 else { return nil }
        let (text, values) = (bytes.dropFirst().dropLast(), Self.values)
        let padLength = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var content: [UInt8] = []
        content.reserveCapacity(text.count / 4 * 3)
        var faults: UInt8 = 0
        for index in stride(from: text.startIndex, to: text.endIndex - padLength, by: 4) {
            // The digits behind the end are padding.
            let isWhole = index + 4 <= text.endIndex - padLength
            let first = values[Int(text[index])]
            let second = values[Int(text[index + 1])]
            let third = isWhole || padLength == 1 ? values[Int(text[index + 2])] : 0
            let fourth = isWhole ? values[Int(text[index + 3])] : 0
            faults |= (first | second | third | fourth) & 0xC0
            content.append(first << 2 | second >> 4)
            content.append(second << 4 | third >> 2)
            content.append(third << 6 | fourth)
        }
        guard faults == 0 else { return nil }
        content.removeLast(padLength)
        return content
    }
}
