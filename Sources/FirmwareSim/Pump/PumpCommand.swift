/// What a line asks the pump to do.
enum PumpCommand: Sendable, Hashable {
    case on
    case off
    /// What `atoi` made of the argument; any value.
    case speed(Int32)
    case status
    case temperature
    case unknown

    /// Reads a line. Letters' case is ignored, blanks are not trimmed.
    ///
    /// A NUL makes a line unknown: where C's strings end there, `ON` with noise behind it would pass for a command.
    init(line: [UInt8]) {
        guard !line.contains(0) else {
            self = .unknown
            return
        }
        let text = line.map { byte in
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

    /// What `atoi` makes of a text: leading white space, a sign, digits; the rest is ignored, and no digits make 0.
    ///
    /// It saturates, so that any number that is out of range stays out of range. (An AVR's `int` has 16 bits, and by it
    /// 65736 would be 200; C leaves that undefined, and the protocol says `INVALID_SPEED_VALUE`.)
    static func atoi(_ text: ArraySlice<UInt8>) -> Int32 {
        var rest = text.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") {
            rest.removeFirst()
        }
        var value: Int32 = 0
        for byte in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            value = min(value * 10 + Int32(byte - UInt8(ascii: "0")), 1_000_000)
        }
        return isNegative ? -value : value
    }
}
