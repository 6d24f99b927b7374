import RecordFormat

/// What was recorded, as people read it: a table, or comma-separated values.
struct HistoryText {
    private let query: HistoryQuery

    init(_ query: HistoryQuery) { self.query = query }

    /// Comma-separated values by RFC 4180, times in UTC; a cell without a value is empty.
    func writeCSV() throws(Failure) {
        let file = OutputFile()
        var names: [String]?
        try query.forEachRow { cells throws(Failure) in
            let fields =
                if let names {
                    zip(names, cells).map { name, cell in Self.text(cell, name) { $0.iso8601 } }
                } else {
                    cells.map(Self.heading)
                }
            if names == nil { names = cells }
            try file.write(Array((fields.map(Self.quoted).joined(separator: ",") + "\n").utf8))
        }
    }

    /// A table; the columns that have no value anywhere are left out.
    func writeTable() throws(Failure) {
        var rows: [[String]] = []
        try query.forEachRow { cells throws(Failure) in
            if let names = rows.first {
                rows.append(zip(names, cells).map { name, cell in Self.text(cell, name) { $0.dateAndTime } })
            } else {
                rows.append(cells)
            }
        }
        guard rows.count > 1 else {
            throw Failure(
                .noInput, code: "not_found", "nothing was recorded of that",
                hint: "take a longer time; 'pumpctl history --sessions' shows what there is")
        }
        rows[0] = rows[0].map(Self.heading)
        let widths = rows[0].indices.map { column in
            rows[1...].allSatisfy { $0[column].isEmpty } ? nil : rows.map { $0[column].count }.max()
        }
        let file = OutputFile()
        for row in rows {
            let cells = zip(row, widths).compactMap { cell, width in
                width.map { cell + String(repeating: " ", count: $0 - cell.count) }
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            try file.write(Array((line + "\n").utf8))
        }
    }

    private static func heading(_ name: String) -> String {
        name == "time_ms" ? "time" : name == "ended_ms" ? "ended" : name
    }

    private static func text(_ cell: String, _ name: String, _ time: (WallTime) -> String) -> String {
        if cell == "null" { return "" }
        if name.hasSuffix("_ms"), name == "time_ms" || name == "ended_ms", let milliseconds = Int64(cell) {
            return time(WallTime(RecordTime(milliseconds: milliseconds)))
        }
        guard let text = JSONText.unquoted(cell[...]) else { return cell }
        return Array(text.utf8).printable()
    }

    private static func quoted(_ field: String) -> String {
        guard field.utf8.contains(where: { [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D].contains($0) }) else {
            return field
        }
        return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
