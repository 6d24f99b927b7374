/// What a line asks the pump to do.
enum PumpCommand: Sendable, Hashable {
    case on
    case off
    /// What `atoi` made of the argument; any value.
    case speed(Int)
    case status
    case temperature
    case unknown

    /// Reads a line. Letters' case is ignored, blanks are not trimmed.
    ///
    /// A command is a C string: what follows a NUL is not there.
    ///
    /// - Parameter saturatesNumbers: Whether a number that doesn't fit 16 bits stays out of range.
    init(line: [UInt8], saturatesNumbers: Bool = false) {
        let text = line.prefix { $0 != 0 }.map { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
        }
        let speedPrefix = Array("SPEED:".utf8)
        if text.starts(with: speedPrefix) {
            self = .speed(Self.atoi(text.dropFirst(speedPrefix.count), saturates: saturatesNumbers))
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

    /// What AVR's `atoi` makes of a text: leading white space, a sign, digits; the rest is ignored, and no digits make 0.
    ///
    /// An AVR's `int` has 16 bits, and what doesn't fit wraps round: 65736 is 200, and so is -65336. Where it `saturates`
    /// it is some number that doesn't fit.
    static func atoi(_ text: ArraySlice<UInt8>, saturates: Bool = false) -> Int {
        var rest = text.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") {
            rest.removeFirst()
        }
        var value = 0
        for byte in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            value = saturates ? min(value, 1_000_000) : value % 65_536
        }
        let number = isNegative ? -value : value
        return saturates ? number : Int(Int16(truncatingIfNeeded: number))
    }
}
