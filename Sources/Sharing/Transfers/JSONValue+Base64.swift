internal import StrictJSON

extension JSONValue {
    /// A text with the bytes in base64 (RFC 4648, section 4), with padding.
    static func base64(_ bytes: [UInt8]) -> JSONValue {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for index in 0..<4 {
                let value = Int(bits >> (18 - 6 * UInt32(index)) & 0x3F)
                text.append(index <= group.count ? alphabet[value] : UInt8(ascii: "="))
            }
        }
        return .text(String(decoding: text, as: UTF8.self))
    }
}
