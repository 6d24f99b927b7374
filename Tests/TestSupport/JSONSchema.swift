package import Foundation
package import StrictJSON

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
        let root = try? JSONValue(parsing: String(decoding: data ?? Data(), as: UTF8.self))
        definitions = root?["$defs"]?.dictionary ?? [:]
    }

    /// Whether a value fits the definition with this name.
    package func fits(_ value: JSONValue, _ name: String) -> Bool { fits(value, definitions[name] ?? false) }

    private func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        guard let rules = schema.dictionary else { return schema == true }
        return rules.allSatisfy { word, rule in
            switch word {
            case "$schema", "$defs", "title", "description": true
            case "$ref": fits(value, definitions[String(rule.string.dropFirst("#/$defs/".count))] ?? false)
            case "type": rule.options.contains { Self.is(value, $0) }
            case "const": value == rule
            case "enum": rule.options.contains(value)
            case "oneOf": rule.options.count { fits(value, $0) } == 1
            case "items": value.elements?.allSatisfy { fits($0, rule) } ?? true
            case "required": value.dictionary.map { all in rule.options.allSatisfy { all[$0.string] != nil } } ?? true
            case "properties":
                (rule.dictionary ?? [:]).allSatisfy { name, rule in value[name].map { fits($0, rule) } ?? true }
            case "additionalProperties":
                (value.dictionary ?? [:]).allSatisfy { schema["properties"]?[$0] != nil || fits($1, rule) }
            case "minimum": value.number.map { $0 >= rule.number ?? 0 } ?? true
            // Ignoring an unknown keyword would accept everything.
            default: false
            }
        }
    }

    private static func `is`(_ value: JSONValue, _ type: JSONValue) -> Bool {
        switch type.text {
        case "null": value.isNull
        case "boolean": value.boolean != nil
        case "integer": value.integer != nil
        case "number": value.isNumber
        case "string": value.isText
        case "array": value.elements != nil
        case "object": value.isObject
        default: false
        }
    }
}

extension JSONValue {
    /// Parses text of any size, with up to 64 levels.
    package init(parsing text: String) throws(JSONError) { try self.init(Array(text.utf8), depth: 64, size: .max) }

    /// The text; empty for any other value.
    package var string: String { text ?? "" }

    /// The elements of an array; any other value as the only element.
    package var options: [JSONValue] { elements ?? [self] }
}
