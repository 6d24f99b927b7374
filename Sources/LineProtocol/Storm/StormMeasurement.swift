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
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let fields = row.split { blanks.contains($0) }.map { String(validating: $0, as: UTF8.self) }
        guard fields.count == 4, let pipe = fields[0], let port = fields[1], let point = fields[2],
            let valueText = fields[3], let value = Self.number(valueText)
        else { return nil }
        self.pipe = pipe
        self.port = port
        self.point = point
        self.valueText = valueText
        self.value = value
    }

    /// Parses a number as C prints one. `Double.init` would also accept hexadecimal numbers.
    private static func number(_ text: String) -> Double? {
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: "X") }) else { return nil }
        return Double(text)
    }
}
