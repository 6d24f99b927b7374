internal import LineProtocol
internal import RecordFormat

/// A JSON value (RFC 8259).
package enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without a fraction or an exponent.
    case integer(Int)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue {
    /// The value as JSON on one line, members sorted by name. Characters that could control a terminal are escaped.
    package var json: String { plain.printableInJSON() }

    private var plain: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        // JSON can't represent infinity and NaN.
        case .number(let value): value.isFinite ? "\(value)" : "null"
        case .text(let text): JSONText.quoted(text)
        case .array(let values): "[" + values.map(\.plain).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { "\(JSONText.quoted($0.key)):\($0.value.plain)" }
                .joined(separator: ",") + "}"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    package init(stringLiteral value: String) { self = .text(value) }

    package init(booleanLiteral value: Bool) { self = .boolean(value) }

    package init(integerLiteral value: Int) { self = .integer(value) }
}
