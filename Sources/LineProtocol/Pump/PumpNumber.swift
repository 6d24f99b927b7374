/// Parses numbers as the pump's firmware does, to predict the speed that a line would set.
package enum PumpNumber {
    /// Returns the number that an AVR's `atoi` reads. Leading white space is skipped, one sign may follow, and the
    /// first character after the digits, even a NUL, ends the number. Without digits the result is 0. Numbers beyond 16
    /// bits wrap around.
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
