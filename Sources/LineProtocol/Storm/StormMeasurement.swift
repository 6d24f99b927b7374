/// What the sensor measured at one point: `<pipe> <port> <point> <value>`.
///
/// Where it was measured is named as the device names it; the names need not be numbers.
public struct StormMeasurement: Sendable, Hashable {
    /// The pipe.
    public var pipe: String
    /// The port of the pipe.
    public var port: String
    /// The point at the port.
    public var point: String
    /// The value as it was printed, with all of its digits.
    public var valueText: String
    /// The value; `nan` and infinite ones are values too.
    public var value: Double

    /// Reads a row: four fields, parted by spaces or tabs, the last of them a number. Nil for anything else.
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

    /// A number as C prints one. Swift's own reading also takes hexadecimals.
    private static func number(_ text: String) -> Double? {
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "x") || $0 == UInt8(ascii: "X") }) else { return nil }
        return Double(text)
    }
}
