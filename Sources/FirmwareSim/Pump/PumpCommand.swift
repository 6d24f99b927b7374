/// A command to the pump.
enum PumpCommand: Sendable, Hashable {
    case on
    case off
    /// The argument as `atoi` reads it; any value.
    case speed(Int)
    case status
    case temperature
    case unknown

    /// Reads a line. Letter case is ignored, blanks are not trimmed.
    ///
    /// A command is a C string, so it ends before the first NUL.
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

    /// Reads a number as AVR's `atoi` does: leading white space, a sign, digits. The rest is ignored, and no digits
    /// give 0.
    ///
    /// An AVR's `int` has 16 bits, and larger numbers wrap: 65736 is 200, and so is -65336. If `saturates` is true, a
    /// larger number does not wrap, and is limited to ±1,000,000.
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
