/// The record of a command's result, for programs: one JSON object.
///
///     output.result("LED on", ["ok": true, "name": name, "value": value])  // nil is null
struct ResultRecord: Encodable, ExpressibleByDictionaryLiteral {
    private struct MemberKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private var base: (any Encodable)?
    private var members: [(key: String, value: (any Encodable)?)]

    init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        self.members = members.map { (key: $0, value: $1) }
    }

    /// Creates a record with the members of `base` and `more`. Members of `more` replace those of the same name.
    init(_ base: some Encodable, with more: ResultRecord) {
        self.base = base
        members = more.members
    }

    /// A copy of the record without the members that are nil. Members of a base stay as they are.
    var known: ResultRecord {
        var known = self
        known.members.removeAll { $0.value == nil }
        return known
    }

    func encode(to encoder: any Encoder) throws {
        try base?.encode(to: encoder)
        var container = encoder.container(keyedBy: MemberKey.self)
        for (key, value) in members {
            if let value {
                try container.encode(value, forKey: MemberKey(stringValue: key))
            } else {
                try container.encodeNil(forKey: MemberKey(stringValue: key))
            }
        }
    }
}
