package import ControlProtocol
package import Foundation

/// A JSON Schema (2020-12), limited to the keywords used in `packaging/schema`. A schema with an unknown keyword
/// accepts nothing.
package struct JSONSchema: Sendable {
    /// The messages between programs and pumpctld.
    package static let pumpctld = JSONSchema(path: "packaging/schema/pumpctld.schema.json")

    /// The folder of the repository.
    package static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The definitions by name.
    private let definitions: [String: JSONValue]

    /// Reads a schema. If the file is missing or is not JSON, the schema accepts nothing.
    package init(path: String) {
        let data = try? Data(contentsOf: Self.repository.appending(path: path))
        let root = try? JSONReader.value(of: Array(data ?? Data()))
        definitions = root?["$defs"]?.members ?? [:]
    }

    /// Whether a value fits the definition with this name.
    package func fits(_ value: JSONValue, _ name: String) -> Bool { fits(value, definitions[name] ?? false) }

    private func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        guard let rules = schema.members else { return schema == true }
        return rules.allSatisfy { word, rule in
            switch word {
            case "$schema", "$defs", "title", "description": true
            case "$ref": fits(value, definitions[String(rule.string.dropFirst("#/$defs/".count))] ?? false)
            case "type": rule.options.contains { Self.is(value, $0) }
            case "const": value == rule
            case "enum": rule.options.contains(value)
            case "oneOf": rule.options.count { fits(value, $0) } == 1
            case "items": value.elements.allSatisfy { fits($0, rule) }
            case "required": value.members.map { all in rule.options.allSatisfy { all[$0.string] != nil } } ?? true
            case "properties":
                (rule.members ?? [:]).allSatisfy { name, rule in value[name].map { fits($0, rule) } ?? true }
            case "additionalProperties":
                (value.members ?? [:]).allSatisfy { schema["properties"]?[$0] != nil || fits($1, rule) }
            case "minimum": value.double.map { $0 >= rule.double ?? 0 } ?? true
            // Ignoring an unknown keyword would accept everything.
            default: false
            }
        }
    }

    private static func `is`(_ value: JSONValue, _ type: JSONValue) -> Bool {
        switch (value, type) {
        case (.null, "null"), (.boolean, "boolean"), (.integer, "integer"), (.integer, "number"), (.number, "number"),
            (.text, "string"), (.array, "array"), (.object, "object"):
            true
        default: false
        }
    }
}

extension JSONValue {
    package var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// The text; empty for any other value.
    package var string: String { if case .text(let text) = self { text } else { "" } }

    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    package subscript(_ name: String) -> JSONValue? { members?[name] }

    /// The elements of an array; any other value as the only element.
    package var options: [JSONValue] { if case .array(let values) = self { values } else { [self] } }

    /// The elements of an array; none for any other value.
    package var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }
}
