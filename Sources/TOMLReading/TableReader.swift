internal import LineProtocol

/// Reads the values of one table of a TOML file, and refuses those that the table does not take.
package struct TableReader {
    /// The table's name, as in `device.pump`; empty for the whole file.
    package let name: String
    /// All values of the file.
    private let values: [TOMLValue]
    /// The place of the table among them.
    private let index: Int

    /// Reads a whole file.
    package init(toml text: String) throws(ConfigurationError) {
        (name, values, index) = ("", try TOMLValue.all(of: text), 0)
    }

    private init(_ name: String, _ index: Int, of file: TableReader) {
        (self.name, self.index) = (name, index)
        values = file.values
    }

    /// The places of what a table or an array has.
    private func elements(of index: Int) -> [Int] {
        let depth = values[index].depth
        return values[(index + 1)...].prefix { $0.depth > depth }.indices.filter { values[$0].depth == depth + 1 }
    }

    private func element(_ key: String) -> Int? { elements(of: index).first { values[$0].key == key } }

    /// The line of a key, or else that of the table.
    package func line(of key: String? = nil) -> Int { values[key.flatMap(element) ?? index].line }

    /// Where the table's values stand.
    package var place: ConfigurationPlace { .table(name) }

    /// The keys that the table has.
    package var keys: [String] { elements(of: index).map { values[$0].key } }

    /// Refuses keys that are not among `known`.
    ///
    /// - Parameter kind: What they are called: a file may consist of tables only.
    package func allowKeys(_ known: [String], called kind: String = "key") throws(ConfigurationError) {
        guard let unknown = keys.first(where: { !known.contains($0) }) else { return }
        let hint = EditDistance.nearest(to: unknown, among: known).map { "write \($0) instead" }
        let list = known.joined(separator: ", ")
        throw ConfigurationError(
            .unknownKey, name.isEmpty ? unknown : place.of(unknown), "unknown \(kind)",
            hint: hint ?? "remove it: the \(kind)s are \(list)", line: line(of: unknown))
    }

    /// The text of a key; nil where it is not given.
    package func string(_ key: String) throws(ConfigurationError) -> String? {
        guard let index = element(key) else { return nil }
        guard case .string(let text) = values[index].content else {
            throw wrongType(key, index, "a string", example: "\"…\"")
        }
        return text
    }

    /// The texts of a key that takes one or an array; none where it is not given.
    package func strings(_ key: String) throws(ConfigurationError) -> [String] {
        guard let index = element(key) else { return [] }
        switch values[index].content {
        case .string(let text): return [text]
        case .array: break
        default: throw wrongType(key, index, "a string or an array of strings", example: "\"…\"")
        }
        var texts: [String] = []
        for index in elements(of: index) {
            guard case .string(let text) = values[index].content else {
                throw wrongType(key, index, "an array of strings", example: "[\"…\", \"…\"]")
            }
            texts.append(text)
        }
        return texts
    }

    /// The yes or no of a key; nil where it is not given.
    package func boolean(_ key: String) throws(ConfigurationError) -> Bool? {
        guard let index = element(key) else { return nil }
        guard case .flag(let flag) = values[index].content else {
            throw wrongType(key, index, "true or false", example: "true")
        }
        return flag
    }

    /// The value of a key that takes one of any kind but a table, as it would be typed: a flag is `on` or `off`; nil where it is
    /// not given.
    package func text(_ key: String) throws(ConfigurationError) -> String? {
        guard let index = element(key) else { return nil }
        switch values[index].content {
        case .string(let text): return text
        case .integer(let number): return "\(number)"
        case .number(let number): return "\(number)"
        case .flag(let flag): return flag ? "on" : "off"
        default: throw wrongType(key, index, "a string, a number, or true or false", example: "\"…\"")
        }
    }

    /// The tables of a key, each below a line `[[key]]`; none where it is not given.
    package func tables(_ key: String) throws(ConfigurationError) -> [TableReader] {
        guard let index = element(key) else { return [] }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard case .array = values[index].content else {
            throw ConfigurationError(
                .wrongType, name, "this is \(kind(of: index)), and must be an array of tables",
                hint: "write the keys of each below a line [[\(name)]]", line: values[index].line)
        }
        var tables: [TableReader] = []
        for index in elements(of: index) {
            guard case .table = values[index].content else {
                throw ConfigurationError(
                    .wrongType, name, "this is \(kind(of: index)), and must be a table",
                    hint: "write its keys below a line [[\(name)]]", line: values[index].line)
            }
            tables.append(TableReader(name, index, of: self))
        }
        return tables
    }

    /// The table of a key; nil where it is not given.
    ///
    /// - Parameter header: How its first line is written, where that is not `[KEY]`.
    package func table(_ key: String, writtenAs header: String? = nil) throws(ConfigurationError) -> TableReader? {
        guard let index = element(key) else { return nil }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard case .table = values[index].content else {
            throw ConfigurationError(
                .wrongType, name, "this is \(kind(of: index)), and must be a table",
                hint: "write its keys below a line \(header ?? "[\(name)]")", line: values[index].line)
        }
        return TableReader(name, index, of: self)
    }

    private func wrongType(_ key: String, _ index: Int, _ wanted: String, example: String) -> ConfigurationError {
        ConfigurationError(
            .wrongType, place.of(key), "this is \(kind(of: index)), and must be \(wanted)",
            hint: "write \(key) = \(example)", line: values[index].line)
    }

    private func kind(of index: Int) -> String {
        switch values[index].content {
        case .table: "a table"
        case .array: "an array"
        case .string: "a string"
        case .integer: "an integer"
        case .number: "a floating-point number"
        case .flag: "true or false"
        case .date: "a date"
        case .time: "a time"
        case .dateTime: "a date-time"
        }
    }
}
