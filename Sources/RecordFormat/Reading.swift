internal import StrictJSON

/// The values that a device reported at one time. The name of each value contains its unit.
///
///     var reading = Reading()
///     reading.add("state", "on")
///     reading.add("skin_temp_c", 34.5)
///     print(reading.json)  // {"state":"on","skin_temp_c":34.5}
public struct Reading: Sendable, Hashable {
    private var object = JSONObjectBuilder()

    /// Creates a reading without values.
    public init() {}

    /// Creates a reading from JSON text: one object on one line, without surrounding blanks. nil for any other text.
    /// The contents of the object are not checked.
    public init?(json: Substring) {
        guard json.utf8.first == UInt8(ascii: "{"), json.utf8.last == UInt8(ascii: "}"), json.utf8.count >= 2,
            !json.utf8.contains(where: { $0 < 0x20 })
        else { return nil }
        object = JSONObjectBuilder(unchecked: Array(json.utf8))
    }

    /// Whether the reading has no values.
    public var isEmpty: Bool { object.isEmpty }

    /// The reading as a JSON object on one line, with the values in the order of adding.
    public var json: String { object.json }

    /// The number of bytes of ``json``.
    public var length: Int { object.bytes.count }

    /// Adds a number; adds null if it is not finite, or nil because the device's value is implausible.
    public mutating func add(_ name: String, _ value: Double?) {
        object.add(name, word: value.flatMap { $0.isFinite ? $0.description : nil } ?? "null")
    }

    /// Adds an integer.
    public mutating func add(_ name: String, _ value: Int) { object.add(name, word: value.description) }

    /// Adds a text.
    public mutating func add(_ name: String, _ value: String) { object.add(name, text: value) }

    /// Adds true or false.
    public mutating func add(_ name: String, _ value: Bool) { object.add(name, word: value.description) }
}
