/// What a device told at once: named values, each with its unit in its name.
///
///     var reading = Reading()
///     reading.add("state", "on")
///     reading.add("skin_temp_c", 34.5)
///     print(reading.json)  // {"state":"on","skin_temp_c":34.5}
public struct Reading: Sendable, Hashable {
    private var members = ""

    /// A reading without values.
    public init() {}

    /// A reading that was written by another: one JSON object, without blanks around it and of no more than one line.
    /// Nil for anything else; what is inside is the writer's affair.
    public init?(json: Substring) {
        guard json.utf8.first == UInt8(ascii: "{"), json.utf8.last == UInt8(ascii: "}"), json.utf8.count >= 2,
            !json.utf8.contains(where: { $0 < 0x20 })
        else { return nil }
        members = String(json.dropFirst().dropLast())
    }

    /// Whether it tells nothing.
    public var isEmpty: Bool { members.isEmpty }

    /// One JSON object on a line, the names in the order in which they were added.
    public var json: String { "{" + members + "}" }

    /// Adds a number; null where it is not finite, and where there is none that can be believed.
    public mutating func add(_ name: String, _ value: Double?) {
        add(name, json: value.flatMap { $0.isFinite ? "\($0)" : nil } ?? "null")
    }

    /// Adds a whole number.
    public mutating func add(_ name: String, _ value: Int) { add(name, json: "\(value)") }

    /// Adds a word, or text.
    public mutating func add(_ name: String, _ value: String) { add(name, json: JSONText.quoted(value)) }

    /// Adds yes or no.
    public mutating func add(_ name: String, _ value: Bool) { add(name, json: value ? "true" : "false") }

    private mutating func add(_ name: String, json: String) {
        if !members.isEmpty { members += "," }
        members += JSONText.quoted(name)
        members += ":"
        members += json
    }
}
