/// A key in JSON that a family's row names: see ``StateField/key``.
struct FieldKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init(stringLiteral value: String) { stringValue = value }

    /// None: the keys of an object are text.
    init?(intValue: Int) { nil }
}
