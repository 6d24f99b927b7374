/// A JSON key from a family's fields: see ``StateField/key``.
struct FieldKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init(stringLiteral value: String) { stringValue = value }

    /// Always nil, because the keys of a JSON object are strings.
    init?(intValue: Int) { nil }
}
