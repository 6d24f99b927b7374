/// Rows of text in columns that are as wide as what is in them.
///
/// Widths are those of a terminal, where some characters take two columns and some none. A column without any value is left
/// out, and so are the headings where all of them are empty.
///
/// ```swift
/// var table = TextTable(["PORT", "DRIVER"])
/// table.add(["/dev/ttyUSB0", "ftdi_sio"])
/// for line in table.lines(width: 80) { print(line) }
/// ```
public struct TextTable: Sendable {
    /// A column of a table.
    public struct Column: Sendable, Hashable, ExpressibleByStringLiteral {
        /// What stands above it.
        public var heading: String
        /// How narrow it may become where a table is too wide; nil if its values are never cut.
        public var least: Int?
        /// How early it is left out where a table is still too wide: that of the highest rank first, and of several of one rank
        /// the last. A column of rank 0 stays.
        public var rank: Int

        /// A column. Of several that can become narrower, the last does first.
        public init(_ heading: String, least: Int? = nil, rank: Int = 0) {
            self.heading = heading
            self.least = least
            self.rank = rank
        }

        public init(stringLiteral heading: String) { self.init(heading) }
    }

    private static let gap = "  "

    private let columns: [Column]
    private var rows: [[String]] = []
    /// How wide each column is; nil for one that is left out.
    private var widths: [Int?]
    /// Which columns were shown last.
    private var shown: [Bool]

    /// A table with these rows.
    public init(_ columns: [Column], _ rows: [[String]] = []) {
        self.columns = columns
        self.rows = rows.map { Array($0.prefix(columns.count)) }
        widths = columns.map { _ in nil }
        shown = columns.map { _ in false }
    }

    /// How many columns with values were left out of the lines that were taken last, since they did not fit.
    public var leftOutCount: Int { zip(widths, shown).count { $0 != nil && !$1 } }

    /// How many rows it holds.
    public var rowCount: Int { rows.count }

    /// Adds a row: a value for each column, empty where there is none. What is more than there are columns is left out.
    public mutating func add(_ row: [String]) { rows.append(Array(row.prefix(columns.count))) }

    /// The headings and the rows.
    ///
    /// - Parameter width: How many columns of a terminal there are; nil where lines may be as long as they like.
    public func lines(width: Int? = nil) -> [String] {
        var table = self
        return table.takeLines(width: width)
    }

    /// The lines of the rows that were added since the last call, which are forgotten: a table of millions of rows is printed
    /// in parts. The headings are there the first time, and again where a column gets its first value.
    ///
    /// - Parameter width: How many columns of a terminal there are; nil where lines may be as long as they like.
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

    /// Narrows columns, then leaves some out, as far as that is needed.
    private func fit(_ widths: inout [Int?], to width: Int) {
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
