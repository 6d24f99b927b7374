/// A dictionary whose keys are of one type, and whose values are of one type. Keeps the order of its entries.
public struct DBusDictionary: Sendable, Hashable {
    /// An entry of a dictionary.
    public struct Entry: Sendable, Hashable {
        /// The key, which must not be a container.
        public var key: DBusValue
        /// The value.
        public var value: DBusValue

        /// Creates an entry.
        public init(_ key: DBusValue, _ value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// The type of the keys, which is not a container.
    public var keys: DBusSignature
    /// The type of the values.
    public var values: DBusSignature
    /// The entries, in the order in which they are sent or were received.
    public var entries: [Entry]

    /// Creates a dictionary of any types. The types of the entries are checked when the dictionary is sent.
    public init(keys: DBusSignature, values: DBusSignature, _ entries: [Entry]) {
        self.keys = keys
        self.values = values
        self.entries = entries
    }

    /// Creates an `a{sv}`: each value is in a variant, and the entries are sorted by name.
    public init(properties: [String: DBusValue]) {
        keys = DBusSignature(checked: "s")
        values = DBusSignature(checked: "v")
        entries = properties.map { Entry(.string($0.key), .variant($0.value)) }
        if entries.count > 1 { entries.sort { ($0.key.string ?? "") < ($1.key.string ?? "") } }
    }

    /// The values by name, without the variants around them; nil if the keys are not strings. If a name occurs twice,
    /// the last value counts.
    public var properties: [String: DBusValue]? {
        guard keys.text == "s" else { return nil }
        var properties: [String: DBusValue] = Dictionary(minimumCapacity: entries.count)
        for entry in entries {
            if let name = entry.key.string { properties[name] = entry.value.withoutVariant }
        }
        return properties
    }
}
