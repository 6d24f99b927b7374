/// How the pump's firmware reads a number.
package enum PumpNumber {
    /// The number that an AVR's `atoi` reads: leading blanks and one sign are skipped, the first other character ends the
    /// number, no digits are 0, and 16 bits wrap round. A NUL is no digit either, so that it ends the number.
    package static func read(_ text: ArraySlice<UInt8>) -> Int16 {
        var rest = text.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        var number: Int16 = 0
        for digit in rest.prefix(while: isDigit) {
            number = number &* 10 &+ Int16(digit - UInt8(ascii: "0"))
        }
        return isNegative ? 0 &- number : number
    }

    /// Whether a byte is a decimal digit.
    package static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
