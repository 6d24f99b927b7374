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
        row.withUnsafeBytes { endOfPlainRow(in: $0, from: 0) == $0.count }
            || row.withUnsafeBufferPointer { StormMeasurement(row: Array($0)) } != nil
    }

    /// Returns the index after the row that begins at `start` and its line end, `\n` or `\r\n`; nil if the row is no
    /// measurement, if its line end is missing, or if only parsing the row can tell.
    package static func endOfPlainLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard var end = endOfPlainRow(in: bytes, from: start) else { return nil }
        if end < bytes.count, bytes[end] == .carriageReturn { end += 1 }
        return end < bytes.count && bytes[end] == .lineFeed ? end + 1 : nil
    }

    /// Returns the index after a row in printable ASCII whose fourth field is a number like `-12.5`, and after the
    /// blanks at its end; nil if there is no such row at `start`.
    private static func endOfPlainRow(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        func skip(_ isPart: (UInt8) -> Bool) -> Bool {
            let first = index
            while index < bytes.count, isPart(bytes[index]) { index &+= 1 }
            return index > first
        }
        func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
        _ = skip(\.isBlank)
        for _ in 0..<3 { guard skip({ $0 &- 0x21 < 0x5E }), skip(\.isBlank) else { return nil } }
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") { index &+= 1 }
        guard skip(isDigit) else { return nil }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index &+= 1
            guard skip(isDigit) else { return nil }
        }
        _ = skip(\.isBlank)
        return index
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
