/// The values that a device reported at one time. The name of each value contains its unit.
///
///     var reading = Reading()
///     reading.add("state", "on")
///     reading.add("skin_temp_c", 34.5)
///     print(reading.json)  // {"state":"on","skin_temp_c":34.5}
public struct Reading: Sendable, Hashable {
    /// ``json`` as bytes: appending to a string takes five times as long.
    private var bytes = Array("{}".utf8)

    /// Creates a reading without values.
    public init() {}

    /// Creates a reading from JSON text: one object on one line, without surrounding blanks. nil for any other text.
    /// The contents of the object are not checked.
    public init?(json: Substring) {
        guard json.utf8.first == UInt8(ascii: "{"), json.utf8.last == UInt8(ascii: "}"), json.utf8.count >= 2,
            !json.utf8.contains(where: { $0 < 0x20 })
        else { return nil }
        bytes = Array(json.utf8)
    }

    /// Whether the reading has no values.
    public var isEmpty: Bool { length == 2 }

    /// The reading as a JSON object on one line, with the values in the order of adding.
    public var json: String { String(decoding: bytes, as: UTF8.self) }

    /// The number of bytes of ``json``.
    public var length: Int { bytes.count }

    /// Adds a number; adds null if it is not finite, or nil because the device's value is implausible.
    public mutating func add(_ name: String, _ value: Double?) {
        add(name) { $0 += (value.flatMap { $0.isFinite ? $0.description : nil } ?? "null").utf8 }
    }

    /// Adds an integer.
    public mutating func add(_ name: String, _ value: Int) { add(name) { $0 += value.description.utf8 } }

    /// Adds a text.
    public mutating func add(_ name: String, _ value: String) { add(name) { $0.append(quoting: value) } }

    /// Adds true or false.
    public mutating func add(_ name: String, _ value: Bool) { add(name) { $0 += value.description.utf8 } }

    private mutating func add(_ name: String, _ appendValue: (inout [UInt8]) -> Void) {
        // Room for a typical status of a pump.
        if isEmpty { bytes.reserveCapacity(128) }
        bytes.removeLast()
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(quoting: name)
        bytes.append(UInt8(ascii: ":"))
        appendValue(&bytes)
        bytes.append(UInt8(ascii: "}"))
    }
}
