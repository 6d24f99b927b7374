import DeviceKit
import LineProtocol
import RecordFormat
import Terminal

/// What was recorded, as people read it: a table, or comma-separated values.
enum HistoryText {
    /// How many rows a table's columns are measured by, so that one of millions needs no more memory.
    private static let blockSize = 2000

    /// Comma-separated values by RFC 4180, times in UTC; a cell without a value is empty.
    ///
    /// - Returns: How many rows there are.
    static func writeCSV(_ query: RecordQuery) throws -> Int {
        var (query, count) = (query, 0)
        let file = OutputFile()
        func write(_ fields: [String]) throws {
            try file.write(Array((CSV.row(fields.map { $0.printable() }) + "\n").utf8))
        }
        try write(query.columns.map(heading))
        while let cells = try query.next() {
            count += 1
            try write(zip(query.columns, cells).map { name, cell in text(cell, name) { $0.iso8601 } })
        }
        return count
    }

    /// A table; the columns that have no value yet are left out.
    ///
    /// - Returns: How many rows there are.
    static func writeTable(_ query: RecordQuery) throws -> Int {
        var (query, count) = (query, 0)
        let file = OutputFile()
        var table = TextTable(query.columns.map { .init(heading($0)) })
        func flush() throws { try file.write(Array(table.takeLines().map { $0 + "\n" }.joined().utf8)) }
        while let cells = try query.next() {
            count += 1
            table.add(zip(query.columns, cells).map { name, cell in text(cell, name) { $0.dateAndTime } })
            if table.rowCount == blockSize { try flush() }
        }
        try flush()
        return count
    }

    private static func heading(_ name: String) -> String {
        name == "time_ms" ? "time" : name == "ended_ms" ? "ended" : name
    }

    private static func text(_ cell: String, _ name: String, _ time: (RecordTime) -> String) -> String {
        if cell == "null" { return "" }
        if name == "time_ms" || name == "ended_ms", let milliseconds = Int64(cell) {
            return time(RecordTime(milliseconds: milliseconds))
        }
        return JSONText.unquoted(cell[...])?.printable() ?? cell
    }
}
