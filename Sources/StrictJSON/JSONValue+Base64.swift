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
        let (pad, quote) = (UInt8(ascii: "="), UInt8(ascii: "\""))
        // Whole groups of three bytes become four digits each.
        let wholeLength = content.count / 3 * 3
        let rest = content[wholeLength...]
        let length = (content.count + 2) / 3 * 4 + 2
        // Pointers, because checked indices take four times as long.
        let json = content.withUnsafeBufferPointer { content in
            digits.withUnsafeBufferPointer { digits in
                [UInt8](unsafeUninitializedCapacity: length) { json, count in
                    json[0] = quote
                    var end = 1
                    for index in stride(from: 0, to: wholeLength, by: 3) {
                        let bits = Int(content[index]) << 16 | Int(content[index + 1]) << 8 | Int(content[index + 2])
                        json[end] = digits[bits >> 18]
                        json[end + 1] = digits[bits >> 12 & 63]
                        json[end + 2] = digits[bits >> 6 & 63]
                        json[end + 3] = digits[bits & 63]
                        end += 4
                    }
                    if let first = rest.first {
                        let bits = Int(first) << 8 | Int(rest.dropFirst().first ?? 0)
                        json[end] = digits[bits >> 10]
                        json[end + 1] = digits[bits >> 4 & 63]
                        json[end + 2] = rest.count == 2 ? digits[bits << 2 & 63] : pad
                        json[end + 3] = pad
                        end += 4
                    }
                    json[end] = quote
                    count = length
                }
            }
        }
        return JSONValue(valid: json[...])
    }

    /// The bytes that a string stands for in base64; nil for any other value, for a string that is not base64, and for
    /// a string with escapes.
    package var base64: [UInt8]? {
        guard isText, bytes.count % 4 == 2 else { return nil }
        let text = bytes.dropFirst().dropLast()
        let padLength = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        let length = text.count / 4 * 3 - padLength
        var faults: UInt8 = 0
        // Pointers, because checked indices take four times as long.
        let content = text.withUnsafeBufferPointer { text in
            Self.values.withUnsafeBufferPointer { values in
                [UInt8](unsafeUninitializedCapacity: length) { content, count in
                    var index = 0
                    // The groups without padding.
                    while count + 3 <= length {
                        let (first, second) = (values[Int(text[index])], values[Int(text[index + 1])])
                        let (third, fourth) = (values[Int(text[index + 2])], values[Int(text[index + 3])])
                        faults |= first | second | third | fourth
                        content[count] = first << 2 | second >> 4
                        content[count + 1] = second << 4 | third >> 2
                        content[count + 2] = third << 6 | fourth
                        (count, index) = (count + 3, index + 4)
                    }
                    guard padLength > 0 else { return }
                    let (first, second) = (values[Int(text[index])], values[Int(text[index + 1])])
                    let third = padLength == 1 ? values[Int(text[index + 2])] : 0
                    faults |= first | second | third
                    content[count] = first << 2 | second >> 4
                    if padLength == 1 { content[count + 1] = second << 4 | third >> 2 }
                    count = length
                }
            }
        }
        // Values are below 64; 255 marks any other byte.
        return faults < 64 ? content : nil
    }
}
