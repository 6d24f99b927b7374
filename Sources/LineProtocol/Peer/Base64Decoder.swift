/// Decodes base64 with padding (RFC 4648, section 4). The input may be cut into pieces anywhere.
struct Base64Decoder: Sendable {
    /// The value of each character; ``none`` for characters outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: none, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
    private static let none: UInt8 = 0xFF
    private static let pad = UInt8(ascii: "=")

    /// Whether all of `bytes` are base64 characters or padding.
    static func isBase64(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { values[Int($0)] != none || $0 == pad }
    }

    /// The bits of the characters in the current group of four.
    private var bits: UInt32 = 0
    private var groupLength = 0
    private var padLength = 0

    /// Whether all groups of four are complete.
    var isWhole: Bool { groupLength == 0 }

    /// Takes the next characters, and returns the bytes that they complete; nil if a character is not base64, or if the
    /// padding is misplaced.
    mutating func decode(_ characters: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3 + 3)
        for character in characters {
            let value = Self.values[Int(character)]
            if value != Self.none {
                guard padLength == 0 else { return nil }
                bits = bits << 6 | UInt32(value)
            } else {
                guard character == Self.pad, groupLength >= 2 else { return nil }
                padLength += 1
                bits <<= 6
            }
            groupLength += 1
            guard groupLength == 4 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
            if padLength < 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> 8)) }
            if padLength < 1 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
            bits = 0
            groupLength = 0
        }
        return bytes
    }
}
