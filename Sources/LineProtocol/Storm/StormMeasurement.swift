/// A measurement at one point: `<pipe> <port> <point> <value>`.
///
/// Pipe, port, and point have the names that the device gives them, which need not be numbers.
public struct StormMeasurement: Sendable, Hashable {
    /// The pipe.
    public var pipe: String
    /// The port of the pipe.
    public var port: String
    /// The point at the port.
    public var point: String
    /// The value as text, with all digits that were printed.
    public var valueText: String
    /// The value as a number, which may be `nan` or infinite.
    public var value: Double

    /// Parses a row: four fields, separated by spaces or tabs, of which the last is a number. Returns nil for any other
    /// text.
    public init?(row: [UInt8]) {
        let fields = row.split(whereSeparator: \.isBlank).map { String(validating: $0, as: UTF8.self) }
        guard fields.count == 4, let pipe = fields[0], let port = fields[1], let point = fields[2],
            let valueText = fields[3], let value = Self.number(valueText)
        else { return nil }
        self.pipe = pipe
        self.port = port
        self.point = point
        self.valueText = valueText
        self.value = value
    }

    /// Whether a row is a measurement. Most rows of a log are recognized without creating one, which takes about five
    /// times as long.
    package static func isMeasurement(_ row: Span<UInt8>) -> Bool {
        isPlainMeasurement(row) ?? (row.withUnsafeBufferPointer { StormMeasurement(row: Array($0)) } != nil)
    }

    /// Returns false for a row without four fields, and true for a row in ASCII whose fourth field is a number like
    /// `-12.5`; nil if only parsing the row can tell.
    private static func isPlainMeasurement(_ row: Span<UInt8>) -> Bool? {
        enum Field { case none, start, sign, integer, point, fraction, other }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        var (fieldCount, field, lastField, isASCII) = (0, Field.none, Field.none, true)
        for index in row.indices {
            let byte = row[index]
            if byte.isBlank {
                field = .none
                continue
            }
            if field == .none { (fieldCount, field) = (fieldCount + 1, .start) }
            switch (field, byte) {
            case (_, 0x80...): (field, isASCII) = (.other, false)
            case (.start, UInt8(ascii: "-")): field = .sign
            case (.start, digits), (.sign, digits), (.integer, digits): field = .integer
            case (.integer, UInt8(ascii: ".")): field = .point
            case (.point, digits), (.fraction, digits): field = .fraction
            default: field = .other
            }
            lastField = field
        }
        if fieldCount != 4 { return false }
        return isASCII && (lastField == .integer || lastField == .fraction) ? true : nil
    }

    /// Parses a number as C prints one. `Double.init` would also accept hexadecimal numbers.
    private static func number(_ text: String) -> Double? {
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: "X") }) else { return nil }
        return Double(text)
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
