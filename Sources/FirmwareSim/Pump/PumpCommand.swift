/// What a line asks the pump to do.
enum PumpCommand: Sendable, Hashable {
    case on
    case off
    /// What `atoi` made of the argument; any value.
    case speed(Int16)
    case status
    case temperature
    case unknown

    /// Reads a line as C does: it ends at a NUL. Letters' case is ignored, blanks are not trimmed.
    init(line: [UInt8]) {
        let text = line.prefix { $0 != 0 }.map { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
        }
        let speedPrefix = Array("SPEED:".utf8)
        if text.starts(with: speedPrefix) {
            self = .speed(Self.atoi(text.dropFirst(speedPrefix.count)))
        } else {
            self = Self.table[text] ?? .unknown
        }
    }

    private static let table: [[UInt8]: PumpCommand] = [
        Array("ON".utf8): .on,
        Array("OFF".utf8): .off,
        Array("STATUS".utf8): .status,
        Array("TEMP".utf8): .temperature,
    ]

    /// avr-libc's `atoi`: leading white space, a sign, digits; the rest is ignored, and no digits make 0.
    ///
    /// An `int` has 16 bits and overflow wraps: 65536 is 0, 65736 is 200. (C leaves overflow undefined; avr-libc's
    /// multiply-and-add keeps the low 16 bits and negates last.)
    static func atoi(_ text: ArraySlice<UInt8>) -> Int16 {
        var rest = text.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") {
            rest.removeFirst()
        }
        var value: UInt16 = 0
        for byte in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            value = value &* 10 &+ UInt16(byte - UInt8(ascii: "0"))
        }
        return Int16(truncatingIfNeeded: isNegative ? 0 &- value : value)
    }
}
