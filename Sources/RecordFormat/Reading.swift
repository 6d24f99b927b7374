/// The values that a device reported at one time. The name of each value contains its unit.
///
///     var reading = Reading()
///     reading.add("state", "on")
///     reading.add("skin_temp_c", 34.5)
///     print(reading.json)  // {"state":"on","skin_temp_c":34.5}
public struct Reading: Sendable, Hashable {
    private var members = ""

    /// Creates a reading without values.
    public init() {}

    /// Creates a reading from JSON text: one object on one line, without surrounding blanks. nil for any other text.
    /// The contents of the object are not checked.
    public init?(json: Substring) {
        guard json.utf8.first == UInt8(ascii: "{"), json.utf8.last == UInt8(ascii: "}"), json.utf8.count >= 2,
            !json.utf8.contains(where: { $0 < 0x20 })
        else { return nil }
        members = String(json.dropFirst().dropLast())
    }

    /// Whether the reading has no values.
    public var isEmpty: Bool { members.isEmpty }

    /// The reading as a JSON object on one line, with the values in the order of adding.
    public var json: String { "{" + members + "}" }

    /// Adds a number; adds null if it is not finite, or nil because the device's value is implausible.
    public mutating func add(_ name: String, _ value: Double?) {
        add(name, json: value.flatMap { $0.isFinite ? "\($0)" : nil } ?? "null")
    }

    /// Adds an integer.
    public mutating func add(_ name: String, _ value: Int) { add(name, json: "\(value)") }

    /// Adds a text.
    public mutating func add(_ name: String, _ value: String) { add(name, json: JSONText.quoted(value)) }

    /// Adds true or false.
    public mutating func add(_ name: String, _ value: Bool) { add(name, json: value ? "true" : "false") }

    private mutating func add(_ name: String, json: String) {
        if !members.isEmpty { members += "," }
        members += JSONText.quoted(name)
        members += ":"
        members += json
    }
}
