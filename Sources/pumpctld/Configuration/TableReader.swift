import LineProtocol
import TOMLKit

/// Reads the values of one table of a TOML file, and refuses those that the table does not take.
struct TableReader {
    /// The table's name, as in `device.pump`; empty for the whole file.
    let name: String
    private let table: TOMLTable

    init(_ name: String, _ table: TOMLTable) {
        self.name = name
        self.table = table
    }

    /// Where the table's values stand.
    var place: ConfigurationPlace { .table(name) }

    /// The keys that the table has.
    var keys: [String] { table.keys }

    /// Refuses keys that are not among `known`.
    func allowKeys(_ known: [String]) throws(ConfigurationError) {
        guard let unknown = table.keys.first(where: { !known.contains($0) }) else { return }
        let hint = EditDistance.nearest(to: unknown, among: known).map { "write \($0) instead" }
        let list = known.joined(separator: ", ")
        throw ConfigurationError(
            .unknownKey, name.isEmpty ? unknown : place.of(unknown), name.isEmpty ? "unknown table" : "unknown key",
            hint: hint ?? "remove it: the \(name.isEmpty ? "tables" : "keys") are \(list)")
    }

    /// The text of a key; nil where it is not given.
    func string(_ key: String) throws(ConfigurationError) -> String? {
        guard let value = table[key] else { return nil }
        guard let text = value.string else { throw wrongType(key, value, "a string", example: "\"…\"") }
        return text
    }

    /// The texts of a key that takes one or an array; none where it is not given.
    func strings(_ key: String) throws(ConfigurationError) -> [String] {
        guard let value = table[key] else { return [] }
        if let text = value.string { return [text] }
        guard let array = value.array else {
            throw wrongType(key, value, "a string or an array of strings", example: "\"…\"")
        }
        var texts: [String] = []
        for index in 0..<array.count {
            guard let text = array[index].string else {
                throw wrongType(key, array[index], "an array of strings", example: "[\"…\", \"…\"]")
            }
            texts.append(text)
        }
        return texts
    }

    /// The yes or no of a key; nil where it is not given.
    func boolean(_ key: String) throws(ConfigurationError) -> Bool? {
        guard let value = table[key] else { return nil }
        guard let flag = value.bool else { throw wrongType(key, value, "true or false", example: "true") }
        return flag
    }

    /// The table of a key; nil where it is not given.
    func table(_ key: String) throws(ConfigurationError) -> TableReader? {
        guard let value = table[key] else { return nil }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard let table = value.table else {
            throw ConfigurationError(
                .wrongType, name, "this is \(Self.name(of: value)), and must be a table",
                hint: "write its keys below a line [\(name)\(name == "device" ? ".NAME" : "")]")
        }
        return TableReader(name, table)
    }

    private func wrongType(
        _ key: String, _ value: any TOMLValueConvertible, _ wanted: String, example: String
    ) -> ConfigurationError {
        ConfigurationError(
            .wrongType, place.of(key), "this is \(Self.name(of: value)), and must be \(wanted)",
            hint: "write \(key) = \(example)")
    }

    private static func name(of value: any TOMLValueConvertible) -> String {
        switch value.type {
        case .int: "an integer"
        case .array: "an array"
        case .bool: "true or false"
        default: "a \(value.type)"
        }
    }
}
