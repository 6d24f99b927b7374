/// Parses the values of a status or temperature line from the bytes of the line.
extension UnsafeRawBufferPointer {
    @inline(__always)
    func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    /// The bytes as text, with U+FFFD in place of bytes that are not UTF-8.
    var text: String { String(decoding: self, as: UTF8.self) }

    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    @inline(__always)
    func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// The bytes between the braces; nil unless braces enclose all bytes.
    var insideBraces: UnsafeRawBufferPointer? {
        guard count >= 2, first == UInt8(ascii: "{"), last == UInt8(ascii: "}") else { return nil }
        return slice(1, count - 1)
    }

    /// Parses a whole number, 0 to 65535, that ends with the unit `suffix`. Leading spaces are allowed. Returns nil for
    /// any other text.
    func number(suffix: Unicode.Scalar) -> UInt16? {
        guard let last, last == UInt8(ascii: suffix) else { return nil }
        var value = 0
        var hasDigits = false
        for byte in slice(0, count - 1) {
            if byte == UInt8(ascii: " ") && !hasDigits { continue }
            guard let digit = byte.digit else { return nil }
            value = value * 10 + digit
            guard value <= 65535 else { return nil }
            hasDigits = true
        }
        return hasDigits ? UInt16(value) : nil
    }

    /// Parses a decimal number as C's printf writes it: ` 9.5`, `-80.0`, `nan`, `-inf`. The unit `suffix` may follow.
    /// Returns nil for any other text.
    func decimal(suffix: UInt8) -> Double? {
        var position = 0
        var end = count
        if end > 0, self[end - 1] == suffix { end -= 1 }
        while position < end, self[position] == UInt8(ascii: " ") { position += 1 }
        let isNegative = position < end && self[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let rest = slice(position, end)
        guard let magnitude = rest.unsignedDecimal ?? rest.notANumber else { return nil }
        return isNegative ? -magnitude : magnitude
    }

    private var unsignedDecimal: Double? {
        var digits = 0
        var scale = 1.0
        var digitCount = 0
        var seenPoint = false
        for byte in self {
            if byte == UInt8(ascii: "."), !seenPoint, digitCount > 0 {
                seenPoint = true
                continue
            }
            // 15 digits are exact in a Double; the firmware prints six at most.
            guard let digit = byte.digit, digitCount < 15 else { return nil }
            digits = digits * 10 + digit
            digitCount += 1
            if seenPoint { scale *= 10 }
        }
        // The firmware always prints one decimal: a number without one has lost its point, or its end.
        guard seenPoint, scale > 1 else { return nil }
        return Double(digits) / scale
    }

    private var notANumber: Double? {
        if equals("nan") || equals("NAN") { return .nan }
        if equals("inf") || equals("INF") { return .infinity }
        return nil
    }
}

extension UInt8 {
    fileprivate var digit: Int? {
        let value = self &- UInt8(ascii: "0")
        return value <= 9 ? Int(value) : nil
    }
}
