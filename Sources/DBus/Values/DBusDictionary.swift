/// A dictionary of any types, in the order in which its entries came.
public struct DBusDictionary: Sendable, Hashable {
    /// One entry.
    public struct Entry: Sendable, Hashable {
        /// A value that is no container.
        public var key: DBusValue
        public var value: DBusValue

        public init(_ key: DBusValue, _ value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// The type of the keys, which is no container.
    public var keys: DBusSignature
    /// The type of the values.
    public var values: DBusSignature
    public var entries: [Entry]

    /// A dictionary of any types. Whether the entries fit them is seen when it is sent.
    public init(keys: DBusSignature, values: DBusSignature, _ entries: [Entry]) {
        self.keys = keys
        self.values = values
        self.entries = entries
    }

    /// `a{sv}`: each value in a variant of its own type; in the order of the names.
    public init(properties: [String: DBusValue]) {
        keys = DBusSignature(checked: "s")
        values = DBusSignature(checked: "v")
        entries = properties.map { Entry(.string($0.key), .variant($0.value)) }
        if entries.count > 1 { entries.sort { ($0.key.string ?? "") < ($1.key.string ?? "") } }
    }

    /// The entries by name, without their variants; nil where the keys are no strings. Of equal names the last counts.
    public var properties: [String: DBusValue]? {
        guard keys.text == "s" else { return nil }
        var properties: [String: DBusValue] = Dictionary(minimumCapacity: entries.count)
        for entry in entries {
            if let name = entry.key.string { properties[name] = entry.value.withoutVariant }
        }
        return properties
    }
}
