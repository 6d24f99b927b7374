import DeviceKit
import LineProtocol
import RecordFormat
import Terminal

/// Writes recorded rows.
enum HistoryRows {
    /// An output format: one JSON object a line, comma-separated values (RFC 4180), or a table without empty columns.
    enum Format { case json, csv, table }

    /// The number of rows that a table holds before they are printed. This bounds the memory for millions of rows.
    private static let blockSize = 2000

    /// Writes the rows.
    ///
    /// - Parameter width: The maximum number of terminal columns of a table; nil for no limit.
    /// - Returns: The number of rows, and the number of table columns that did not fit.
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
                // Recorded device output may contain terminal control characters.
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

    /// Returns the rank of a column. On a narrow terminal, columns with the highest rank are omitted first: their
    /// values are the same in most rows.
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
