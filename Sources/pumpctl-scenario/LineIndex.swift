/// The lines of a TOML file on which its tables and keys stand, for messages that name them: the parser does not tell.
struct LineIndex {
    private struct Table {
        let line: Int
        var keys: [String: Int] = [:]
    }

    /// The tables of each name, in their order; the file itself has no name.
    private var tables: [String: [Table]] = ["": [Table(line: 1)]]

    init(_ text: String) {
        var (name, isWithinText) = ("", false)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let marks = line.ranges(of: "\"\"\"").count + line.ranges(of: "\'\'\'").count
            defer { if !marks.isMultiple(of: 2) { isWithinText.toggle() } }
            if isWithinText { continue }
            let words = line.drop(while: \.isWhitespace)
            if words.first == "[" {
                name = Self.bare(words.drop { $0 == "[" }.prefix { $0 != "]" })
                tables[name, default: []].append(Table(line: index + 1))
            } else if words.first != "#", let equals = words.firstIndex(of: "="), let last = tables[name]?.indices.last
            {
                tables[name]?[last].keys[Self.bare(words[..<equals])] = index + 1
            }
        }
    }

    /// A name without its quotes, and without blanks around it.
    private static func bare(_ text: Substring) -> String {
        text.filter { !$0.isWhitespace && $0 != "\"" && $0 != "\'" }
    }

    /// The line of a key, or of a table of that name in the file itself, or else that of the header of the key's table; nil if
    /// none is known.
    ///
    /// - Parameter number: Which of the tables of that name, from 0.
    func line(of key: String, in table: String = "", _ number: Int = 0) -> Int? {
        guard let named = tables[table], named.indices.contains(number) else { return nil }
        return named[number].keys[key] ?? (table.isEmpty ? tables[key]?.first?.line : named[number].line)
    }
}
