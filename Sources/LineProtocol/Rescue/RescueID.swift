/// What tells a message from all others: a UUID.
public struct RescueID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// Reads `6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11`, in either case. Nil for anything else.
    public init?(_ text: String) {
        var digits: (UInt64, UInt64) = (0, 0)
        var count = 0
        guard text.utf8.count == 36 else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            if Self.hyphens.contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = JSONGrammar.hexDigit(byte) else { return nil }
            if count < 16 { digits.0 = digits.0 << 4 | UInt64(digit) } else { digits.1 = digits.1 << 4 | UInt64(digit) }
            count += 1
        }
        (high, low) = digits
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// One that nobody else has: version 4 of RFC 9562.
    public static func random(using generator: inout some RandomNumberGenerator) -> RescueID {
        RescueID(
            high: generator.next() & ~0xF000 | 0x4000,
            low: generator.next() & ~(0b11 << 62) | 0b10 << 62)
    }

    /// One that nobody else has, by the system's random numbers.
    public static func random() -> RescueID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    private static let hyphens: Set<Int> = [8, 13, 18, 23]
}

extension RescueID: CustomStringConvertible {
    /// In upper case, as on the wire.
    public var description: String {
        var text = ""
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text += "-" }
            let half = index < 16 ? high : low
            text += String(half >> UInt64(60 - index % 16 * 4) & 0xF, radix: 16, uppercase: true)
        }
        return text
    }
}
