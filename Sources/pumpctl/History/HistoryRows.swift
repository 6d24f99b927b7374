import DeviceKit
import LineProtocol
import RecordFormat
import Terminal

/// What was recorded, row by row.
enum HistoryRows {
    /// As rows are written: an object a line, comma-separated values by RFC 4180, or a table without the columns that have no
    /// value yet.
    enum Format { case json, csv, table }

    /// How many rows a table's columns are measured by, so that one of millions needs no more memory.
    private static let blockSize = 2000

    /// Writes the rows.
    ///
    /// - Returns: How many there are.
    static func write(_ query: RecordQuery, as format: Format) throws -> Int {
        var (query, count) = (query, 0)
        let file = OutputFile()
        func write(_ lines: [String]) throws { try file.write(Array(lines.map { $0 + "\n" }.joined().utf8)) }
        switch format {
        case .json:
            while let object = try query.nextObject() {
                count += 1
                // The record keeps what devices have said, also what a terminal would act on.
                try write([object.printableInJSON()])
            }
        case .csv:
            try write([CSV.row(query.headings)])
            while let cells = try query.nextTexts(\.iso8601) {
                count += 1
                try write([CSV.row(cells)])
            }
        case .table:
            var table = TextTable(query.headings.map { .init($0) })
            while let cells = try query.nextTexts(\.dateAndTime) {
                count += 1
                table.add(cells)
                if table.rowCount == blockSize { try write(table.takeLines()) }
            }
            try write(table.takeLines())
        }
        return count
    }
}
