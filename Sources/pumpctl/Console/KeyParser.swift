/// Cuts what a terminal sends into keys: characters, and escape sequences kept whole.
struct KeyParser {
    /// The characters of one key.
    typealias Key = [Unicode.Scalar]

    /// How long after Escape a byte may still belong to it. A terminal sends a sequence at once; what a person types
    /// after Escape is text, and Escape by itself does nothing.
    static let escapeTime = Duration.milliseconds(100)

    private var pending: [UInt8] = []
    private var lastInstant: ContinuousClock.Instant?

    /// Takes in `bytes`, which came at `instant`, and returns the keys that they complete.
    mutating func keys(_ bytes: [UInt8], at instant: ContinuousClock.Instant) -> [Key] {
        if let lastInstant, pending.first == Self.escape, lastInstant.duration(to: instant) > Self.escapeTime {
            pending = []
        }
        lastInstant = instant
        return bytes.compactMap { take($0) }
    }

    private static let escape: UInt8 = 0x1B

    private mutating func take(_ byte: UInt8) -> Key? {
        if byte == Self.escape { pending = [] }
        pending.append(byte)
        guard pending[0] == Self.escape else { return takeCharacter(byte) }
        switch pending.count {
        case 1: return nil
        case 2: if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") || byte >= 0x80 { return nil }
        // Parameters of a sequence, up to its final byte.
        default: if pending[1] == UInt8(ascii: "["), !(0x40...0x7E).contains(byte) { return nil }
        }
        defer { pending = [] }
        return pending.map { Unicode.Scalar($0) }
    }

    private mutating func takeCharacter(_ byte: UInt8) -> Key? {
        if pending.count > 1, byte & 0xC0 != 0x80 { pending = [byte] }
        let length: Int? =
            switch pending[0] {
            case ..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: nil
            }
        guard let length else {
            pending = []
            return nil
        }
        guard pending.count == length else { return nil }
        defer { pending = [] }
        return String(validating: pending, as: UTF8.self).map { Array($0.unicodeScalars) }
    }
}
