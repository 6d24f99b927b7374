internal import LineProtocol

/// Reads the values of a table in a TOML file, and refuses unknown keys.
package struct TableReader {
    /// The table's name, such as `device.pump`; empty for the whole file.
    package let name: String
    /// All values of the file.
    private let values: [TOMLValue]
    /// The index of the table in `values`.
    private let index: Int

    /// Parses a whole file.
    package init(toml text: String) throws(ConfigurationError) {
        (name, values, index) = ("", try TOMLValue.all(of: text), 0)
    }

    private init(_ name: String, _ index: Int, of file: TableReader) {
        (self.name, self.index) = (name, index)
        values = file.values
    }

    /// The indices of the elements of a table or an array.
    private func elements(of index: Int) -> [Int] {
        let depth = values[index].depth
        return values[(index + 1)...].prefix { $0.depth > depth }.indices.filter { values[$0].depth == depth + 1 }
    }

    /// Returns the index of the value with this key in the table; nil if the key is missing.
    private func element(_ key: String) -> Int? { elements(of: index).first { values[$0].key == key } }

    /// The line of a key; the line of the table if the key is nil or missing.
    package func line(of key: String? = nil) -> Int { values[key.flatMap(element) ?? index].line }

    /// The place of the table's values.
    package var place: ConfigurationPlace { .table(name) }

    /// The keys in the table.
    package var keys: [String] { elements(of: index).map { values[$0].key } }

    /// Throws `unknownKey` if the table has a key that is not in `known`.
    ///
    /// - Parameters:
    ///   - known: The allowed keys.
    ///   - kind: The word for a key in the error: the keys of a whole file may be tables.
    package func allowKeys(_ known: [String], called kind: String = "key") throws(ConfigurationError) {
        guard let unknown = keys.first(where: { !known.contains($0) }) else { return }
        let hint = EditDistance.nearest(to: unknown, among: known).map { "write \($0) instead" }
        let list = known.joined(separator: ", ")
        throw ConfigurationError(
            .unknownKey, name.isEmpty ? unknown : place.of(unknown), "unknown \(kind)",
            hint: hint ?? "remove it: the \(kind)s are \(list)", line: line(of: unknown))
    }

    /// Returns the string of a key; nil if the key is missing.
    package func string(_ key: String) throws(ConfigurationError) -> String? {
        guard let index = element(key) else { return nil }
        guard case .string(let text) = values[index].content else {
            throw wrongType(key, index, "a string", example: "\"…\"")
        }
        return text
    }

    /// Returns the strings of a key with a string or an array of strings; an empty array if the key is missing.
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

    /// Returns the Boolean value of a key; nil if the key is missing.
    package func boolean(_ key: String) throws(ConfigurationError) -> Bool? {
        guard let index = element(key) else { return nil }
        guard case .flag(let flag) = values[index].content else {
            throw wrongType(key, index, "true or false", example: "true")
        }
        return flag
    }

    /// Returns the string, number or Boolean value of a key as a person would type it on the command line: a Boolean
    /// value is `on` or `off`. nil if the key is missing.
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

    /// Returns the tables of a key, each below a line `[[key]]`; an empty array if the key is missing.
    package func tables(_ key: String) throws(ConfigurationError) -> [TableReader] {
        guard let index = element(key) else { return [] }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard case .array = values[index].content else {
            throw ConfigurationError(
                .wrongType, name, "must be an array of tables, not \(kind(of: index))",
                hint: "write the keys of each below a line [[\(name)]]", line: values[index].line)
        }
        var tables: [TableReader] = []
        for index in elements(of: index) {
            guard case .table = values[index].content else {
                throw ConfigurationError(
                    .wrongType, name, "must be a table, not \(kind(of: index))",
                    hint: "write its keys below a line [[\(name)]]", line: values[index].line)
            }
            tables.append(TableReader(name, index, of: self))
        }
        return tables
    }

    /// Returns the table of a key; nil if the key is missing.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - header: The first line of the table as shown in the hint; nil for `[KEY]`.
    package func table(_ key: String, writtenAs header: String? = nil) throws(ConfigurationError) -> TableReader? {
        guard let index = element(key) else { return nil }
        let name = name.isEmpty ? key : "\(name).\(key)"
        guard case .table = values[index].content else {
            throw ConfigurationError(
                .wrongType, name, "must be a table, not \(kind(of: index))",
                hint: "write its keys below a line \(header ?? "[\(name)]")", line: values[index].line)
        }
        return TableReader(name, index, of: self)
    }

    private func wrongType(_ key: String, _ index: Int, _ wanted: String, example: String) -> ConfigurationError {
        ConfigurationError(
            .wrongType, place.of(key), "must be \(wanted), not \(kind(of: index))",
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
