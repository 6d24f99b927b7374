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
    /// - Parameter width: How many columns of a terminal a table may take; nil where lines may be as long as they like.
    /// - Returns: How many there are, and how many columns of a table did not fit.
    static func write(
        _ query: RecordQuery, as format: Format, width: Int? = nil
    ) throws -> (rows: Int, leftOutColumns: Int) {
        var (query, count, leftOut) = (query, 0, 0)
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
            var table = TextTable(query.headings.map { .init($0, rank: Self.rank(of: $0)) })
            while let cells = try query.nextTexts(\.dateAndTime) {
                count += 1
                table.add(cells)
                guard table.rowCount == blockSize else { continue }
                try write(table.takeLines(width: width))
                leftOut = max(leftOut, table.leftOutCount)
            }
            try write(table.takeLines(width: width))
            leftOut = max(leftOut, table.leftOutCount)
        }
        return (count, leftOut)
    }

    /// How early a column is left out where the terminal is too narrow: what is the same in most rows first.
    private static func rank(of heading: String) -> Int {
        switch heading {
        case "session": 5
        case "endpoint", "device": 4
        case "family": 3
        case "kind": 2
        case "time", "state", "text", "event": 0
        default: 1
        }
    }
}
