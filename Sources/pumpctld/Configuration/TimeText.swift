/// Parses durations as people write them, in the configuration and in options.
enum TimeText {
    /// The units with their lengths in milliseconds. `ms` precedes `s`, as `500ms` ends with both.
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]
    /// The longest duration in milliseconds: eleven days.
    private static let limit: Int64 = 1_000_000_000

    /// Parses a whole number with a unit, such as `500ms`, `60s`, `10m` or `2h`; returns nil for any other text.
    static func duration(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        let digits = text.dropLast(unit.name.count)
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int64(digits),
            number <= limit / unit.milliseconds
        else { return nil }
        return .milliseconds(number * unit.milliseconds)
    }
}
