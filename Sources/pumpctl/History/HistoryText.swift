import DeviceKit
import LineProtocol
import RecordFormat

/// What was recorded, as people read it: a table, or comma-separated values.
struct HistoryText {
    private let query: HistoryQuery

    init(_ query: HistoryQuery) { self.query = query }

    /// Comma-separated values by RFC 4180, times in UTC; a cell without a value is empty.
    ///
    /// - Returns: How many rows there are.
    func writeCSV() throws(Failure) -> Int {
        let file = OutputFile()
        var names: [String]?
        return try query.forEachRow { cells throws(Failure) in
            let fields =
                if let names {
                    zip(names, cells).map { name, cell in Self.text(cell, name) { $0.iso8601 } }
                } else {
                    cells.map(Self.heading)
                }
            if names == nil { names = cells }
            try file.write(results: Array((fields.map { $0.harmlessForCSV() }.joined(separator: ",") + "\n").utf8))
        }
    }

    /// A table; the columns that have no value yet are left out.
    ///
    /// - Returns: How many rows there are.
    func writeTable() throws(Failure) -> Int {
        let file = OutputFile()
        var names: [String]?
        var table = TextTable()
        let count = try query.forEachRow { cells throws(Failure) in
            guard let names else {
                names = cells
                return table = TextTable(headings: cells.map(Self.heading))
            }
            let row = zip(names, cells).map { name, cell in Self.text(cell, name) { $0.dateAndTime } }
            try file.write(results: Array(table.add(row).utf8))
        }
        try file.write(results: Array(table.finish().utf8))
        return count
    }

    private static func heading(_ name: String) -> String {
        name == "time_ms" ? "time" : name == "ended_ms" ? "ended" : name
    }

    private static func text(_ cell: String, _ name: String, _ time: (WallTime) -> String) -> String {
        if cell == "null" { return "" }
        if name == "time_ms" || name == "ended_ms", let milliseconds = Int64(cell) {
            return time(WallTime(RecordTime(milliseconds: milliseconds)))
        }
        guard let text = JSONText.unquoted(cell[...]) else { return cell }
        return Array(text.utf8).printable()
    }
}
