internal import LineProtocol
internal import TOMLKit

/// Reads the values of one table of a TOML file, and refuses those that the table does not take.
package struct TableReader {
    /// The table's name, as in `device.pump`; empty for the whole file.
    package let name: String
    private let table: TOMLTable

    private init(_ name: String, _ table: TOMLTable) {
        self.name = name
        self.table = table
    }

    /// Reads a whole file.
    package init(toml text: String) throws(ConfigurationError) {
        // The parser takes a NUL for the end of the text.
        if let end = text.utf8.firstIndex(of: 0) {
            let line = text.utf8[..<end].count { $0 == 0x0A } + 1
            throw ConfigurationError(.syntax, "line \(line)", "a NUL character", hint: "write the file as UTF-8 text")
        }
        do { self.init("", try TOMLTable(string: text)) } catch {
            let error = error as? TOMLParseError
            throw ConfigurationError(
                .syntax, error.map { "line \($0.source.begin.line)" } ?? "the file",
                error?.description ?? "this is no TOML", hint: "write it as TOML: see https://toml.io")
        }
    }

    /// Where the table's values stand.
    package var place: ConfigurationPlace { .table(name) }

    /// The keys that the table has.
    package var keys: [String] { table.keys }

    /// Refuses keys that are not among `known`.
    ///
    /// - Parameter kind: What they are called: a file may consist of tables only.
    package func allowKeys(_ known: [String], called kind: String = "key") throws(ConfigurationError) {
        guard let unknown = table.keys.first(where: { !known.contains($0) }) else { return }
        let hint = EditDistance.nearest(to: unknown, among: known).map { "write \($0) instead" }
        let list = known.joined(separator: ", ")
        throw ConfigurationError(
            .unknownKey, name.isEmpty ? unknown : place.of(unknown), "unknown \(kind)",
            hint: hint ?? "remove it: the \(kind)s are \(list)")
    }

    /// The text of a key; nil where it is not given.
    package func string(_ key: String) throws(ConfigurationError) -> String? {
        guard let value = table[key] else { return nil }
        guard let text = value.string else { throw wrongType(key, value, "a string", example: "\"…\"") }
        return text
    }

    /// The texts of a key that takes one or an array; none where it is not given.
    package func strings(_ key: String) throws(ConfigurationError) -> [String] {
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
    package func boolean(_ key: String) throws(ConfigurationError) -> Bool? {
        guard let value = table[key] else { return nil }
        guard let flag = value.bool else { throw wrongType(key, value, "true or false", example: "true") }
        return flag
    }

    /// The value of a key that takes one of any kind but a table, as it would be typed: a flag is `on` or `off`; nil where it is
    /// not given.
    package func text(_ key: String) throws(ConfigurationError) -> String? {
        guard let value = table[key] else { return nil }
        if let text = value.string { return text }
        if let number = value.int { return "\(number)" }
        if let number = value.double { return "\(number)" }
        if let flag = value.bool { return flag ? "on" : "off" }
        throw wrongType(key, value, "a string, a number, or true or false", example: "\"…\"")
    }

    /// The tables of a key, each below a line `[[key]]`; none where it is not given.
    package func tables(_ key: String) throws(ConfigurationError) -> [TableReader] {
        guard let value = table[key] else { return [] }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard let array = value.array else {
            throw ConfigurationError(
                .wrongType, name, "this is \(Self.name(of: value)), and must be an array of tables",
                hint: "write the keys of each below a line [[\(name)]]")
        }
        var tables: [TableReader] = []
        for index in 0..<array.count {
            guard let table = array[index].table else {
                throw ConfigurationError(
                    .wrongType, name, "this is \(Self.name(of: array[index])), and must be a table",
                    hint: "write its keys below a line [[\(name)]]")
            }
            tables.append(TableReader(name, table))
        }
        return tables
    }

    /// The table of a key; nil where it is not given.
    ///
    /// - Parameter header: How its first line is written, where that is not `[KEY]`.
    package func table(_ key: String, writtenAs header: String? = nil) throws(ConfigurationError) -> TableReader? {
        guard let value = table[key] else { return nil }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard let table = value.table else {
            throw ConfigurationError(
                .wrongType, name, "this is \(Self.name(of: value)), and must be a table",
                hint: "write its keys below a line \(header ?? "[\(name)]")")
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
