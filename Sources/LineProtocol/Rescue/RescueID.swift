internal import StrictJSON

/// The unique ID of a message: a UUID.
public struct RescueID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// Parses a UUID such as `6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11`, in upper or lower case; nil for any other text.
    public init?(_ text: String) {
        var text = text
        guard let halves = text.withUTF8({ Self.read($0) }) else { return nil }
        (high, low) = halves
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64)? {
        guard text.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<36 {
            switch index {
            case 8, 13, 18, 23: guard text[index] == UInt8(ascii: "-") else { return nil }
            default:
                guard let digit = JSONGrammar.hexDigit(text[index]) else { return nil }
                if index < 18 {
                    halves.0 = halves.0 << 4 | UInt64(digit)
                } else {
                    halves.1 = halves.1 << 4 | UInt64(digit)
                }
            }
        }
        return halves
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Returns a new random ID, of version 4 of RFC 9562.
    public static func random(using generator: inout some RandomNumberGenerator) -> RescueID {
        RescueID(
            high: generator.next() & ~0xF000 | 0x4000,
            low: generator.next() & ~(0b11 << 62) | 0b10 << 62)
    }

    /// Returns a new random ID from the system's random numbers.
    public static func random() -> RescueID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }
}

extension RescueID: CustomStringConvertible {
    /// The UUID in upper case, as on the wire.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            let digit = UInt8(truncatingIfNeeded: (index < 16 ? high : low) >> UInt64(60 - index % 16 * 4)) & 0xF
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") - 10 + digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
