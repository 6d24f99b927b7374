/// A table of text, whose columns are as wide as their contents.
///
/// Widths are counted in terminal columns: some characters take two and some none. Columns without any value are left
/// out, and so is the line of headings if all headings are empty.
///
/// ```swift
/// var table = TextTable(["PORT", "DRIVER"])
/// table.add(["/dev/ttyUSB0", "ftdi_sio"])
/// for line in table.lines(width: 80) { print(line) }
/// ```
public struct TextTable: Sendable {
    /// A column of a table.
    public struct Column: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The heading of the column.
        public var heading: String
        /// The least width to which the column shrinks if the table is too wide; nil if the column does not shrink.
        public var least: Int?
        /// The order in which columns are left out if the table is still too wide: the highest rank first, and the last
        /// one among equal ranks. A column of rank 0 is never left out.
        public var rank: Int

        /// Creates a column. Among columns that can shrink, the last one shrinks first.
        ///
        /// - Parameters:
        ///   - heading: The heading of the column.
        ///   - least: The least width to which the column shrinks; nil if the column does not shrink.
        ///   - rank: The order in which the column is left out; 0 for never.
        public init(_ heading: String, least: Int? = nil, rank: Int = 0) {
            self.heading = heading
            self.least = least
            self.rank = rank
        }

        public init(stringLiteral heading: String) { self.init(heading) }
    }

    private static let gap = "  "

    private let columns: [Column]
    /// The rows that ``takeLines(width:)`` has not returned yet.
    private var rows: [[String]] = []
    /// The width of each column; nil for a column without values.
    private var widths: [Int?]
    /// Whether each column was in the lines that ``takeLines(width:)`` returned last.
    private var shown: [Bool]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - columns: The columns.
    ///   - rows: The rows: a value for each column. Surplus values are dropped.
    public init(_ columns: [Column], _ rows: [[String]] = []) {
        self.columns = columns
        self.rows = rows.map { Array($0.prefix(columns.count)) }
        widths = columns.map { _ in nil }
        shown = columns.map { _ in false }
    }

    /// The number of columns with values that did not fit into the lines that ``takeLines(width:)`` returned last.
    public var leftOutCount: Int { zip(widths, shown).count { $0 != nil && !$1 } }

    /// The number of rows in the table.
    public var rowCount: Int { rows.count }

    /// Adds a row: a value for each column, empty if unknown. Surplus values are dropped.
    public mutating func add(_ row: [String]) { rows.append(Array(row.prefix(columns.count))) }

    /// Returns the headings and the rows as ``takeLines(width:)`` does, but keeps the rows.
    ///
    /// - Parameter width: The width of the terminal in columns; nil for lines of any length.
    public func lines(width: Int? = nil) -> [String] {
        var table = self
        return table.takeLines(width: width)
    }

    /// Returns the lines of the rows added since the last call, and removes these rows, so that a table of millions of
    /// rows can be printed in parts. The headings come with the first rows, and again when other columns than before
    /// are shown. A column is as wide as its heading or its widest value so far.
    ///
    /// - Parameter width: The width of the terminal in columns; nil for lines of any length.
    public mutating func takeLines(width: Int? = nil) -> [String] {
        for row in rows {
            for (index, cell) in row.enumerated() where !cell.isEmpty {
                widths[index] = max(widths[index] ?? columns[index].heading.columns, cell.columns)
            }
        }
        let headings = columns.map(\.heading)
        var fitting = widths
        if let width { fit(&fitting, to: width) }
        let isNewHeading = fitting.map { $0 != nil } != shown && headings.contains { !$0.isEmpty }
        shown = fitting.map { $0 != nil }
        defer { rows = [] }
        return ((isNewHeading ? [headings] : []) + rows).map { row in
            let cells = zip(row, fitting).compactMap { cell, width in width.map { cell.cut(to: $0).padded(to: $0) } }
            let line = cells.joined(separator: Self.gap).trimmingBlanks
            return width.map { line.cut(to: $0) } ?? line
        }
    }

    /// Shrinks columns, then leaves some out, as far as necessary.
    private func fit(_ widths: inout [Int?], to width: Int) {
        /// Returns the number of terminal columns by which the table is too wide.
        func excess() -> Int { widths.reduce(-Self.gap.count - width) { $0 + ($1.map { $0 + Self.gap.count } ?? 0) } }
        for index in columns.indices.reversed() where excess() > 0 {
            guard let least = columns[index].least, let now = widths[index] else { continue }
            widths[index] = max(min(now, least), now - excess())
        }
        let dispensable = columns.indices.filter { columns[$0].rank > 0 }.sorted {
            (columns[$0].rank, $0) > (columns[$1].rank, $1)
        }
        for index in dispensable where excess() > 0 { widths[index] = nil }
    }
}
