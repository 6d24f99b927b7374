/// A JSON key of an update: a ``StateField/key`` or one of the reserved keys in ``Family/state``.
struct FieldKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init(stringLiteral value: String) { stringValue = value }

    /// Always nil, because the keys of a JSON object are strings.
    init?(intValue: Int) { nil }
}
