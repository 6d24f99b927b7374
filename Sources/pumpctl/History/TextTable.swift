/// Rows of text in columns that are as wide as what is in them, printed some thousand at a time, so that a table of
/// millions needs no more memory. Columns without any value are left out; where one gets its first value further down, the
/// headings are printed again.
struct TextTable {
    private static let blockSize = 2000

    private let headings: [String]
    private var rows: [[String]] = []
    /// How wide each column is; nil for one that is left out.
    private var widths: [Int?]

    init(headings: [String] = []) {
        self.headings = headings
        widths = headings.map { _ in nil }
    }

    /// Adds a row.
    ///
    /// - Returns: What can be printed now.
    mutating func add(_ row: [String]) -> String {
        rows.append(row)
        return rows.count < Self.blockSize ? "" : finish()
    }

    /// What is still to be printed.
    mutating func finish() -> String {
        let shown = widths.map { $0 != nil }
        for row in rows {
            for (column, cell) in row.enumerated() where !cell.isEmpty {
                widths[column] = max(widths[column] ?? headings[column].columns, cell.columns)
            }
        }
        let isNewHeading = widths.map { $0 != nil } != shown
        defer { rows = [] }
        return ((isNewHeading ? [headings] : []) + rows).map { line($0) + "\n" }.joined()
    }

    private func line(_ cells: [String]) -> String {
        zip(cells, widths).compactMap { cell, width in width.map { cell.padded(to: $0) } }.joined(separator: "  ")
            .trimmingBlanks
    }
}
