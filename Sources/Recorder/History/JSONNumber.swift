/// The conversion of JSON values to numbers for charts.
enum JSONNumber {
    private static let most = 15
    private static let powers: [Double] = (0...most).reduce(into: []) { powers, _ in
        powers.append((powers.last ?? 0.1) * 10)
    }
    private static let words: [([UInt8], Double)] = [
        ("true", 1), ("false", 0), ("\"off\"", 0), ("\"on\"", 1), ("\"error\"", 2),
    ].map { (Array($0.0.utf8), $0.1) }

    /// Returns the number for a JSON value: 1 and 0 for true and false, and for a pump's state 0 for off, 1 for on, 2
    /// for error; nil for any other value that is not a number.
    static func value(_ json: ArraySlice<UInt8>) -> Double? {
        guard let first = json.first else { return nil }
        guard first == UInt8(ascii: "-") || isDigit(first) else {
            return words.first { $0.0.elementsEqual(json) }?.1
        }
        return plain(json) ?? Double(String(decoding: json, as: UTF8.self))
    }

    /// Parses up to 15 digits with an optional decimal point, for which the result is exact. Almost all of the millions
    /// of numbers in a record have this form.
    private static func plain(_ json: ArraySlice<UInt8>) -> Double? {
        let isNegative = json.first == UInt8(ascii: "-")
        let digits = isNegative ? json.dropFirst() : json
        guard digits.count <= most else { return nil }
        var (number, decimals, isBehindPoint) = (0, 0, false)
        for byte in digits {
            if byte == UInt8(ascii: "."), !isBehindPoint {
                isBehindPoint = true
            } else if isDigit(byte) {
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                decimals += isBehindPoint ? 1 : 0
            } else {
                return nil
            }
        }
        let value = Double(number) / powers[decimals]
        return isNegative ? -value : value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
