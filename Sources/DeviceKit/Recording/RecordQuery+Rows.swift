internal import LineProtocol
public import RecordFormat

/// Rows as people and programs read them: times by the calendar, and not by milliseconds.
extension RecordQuery {
    /// What stands above the columns for a person.
    public var headings: [String] { columns.map { Self.heading($0).printable() } }

    /// The next row as the texts of its cells; empty where there is no value, and what a terminal acts on is escaped. Nil at
    /// the end.
    ///
    /// - Parameter time: Writes a time.
    public mutating func nextTexts(_ time: (RecordTime) -> String) throws(Trouble) -> [String]? {
        try next().map { Self.texts(columns, $0, time) }
    }

    /// The next row as one JSON object: the members of a reading stand beside the columns, and times are in UTC by ISO 8601.
    /// Nil at the end.
    public mutating func nextObject() throws(Trouble) -> String? {
        try next().map { Self.object(columns, $0) }
    }

    static func texts(_ columns: [String], _ cells: [String], _ time: (RecordTime) -> String) -> [String] {
        zip(columns, cells).map { column, cell in
            if cell == "null" { return "" }
            if let moment = self.time(cell, column) { return time(moment) }
            return (JSONText.unquoted(cell[...]) ?? cell).printable()
        }
    }

    static func object(_ columns: [String], _ cells: [String]) -> String {
        "{\(zip(columns, cells).compactMap(member).joined(separator: ","))}"
    }

    /// A member, or those of a reading; nil where there are none.
    private static func member(_ name: String, _ cell: String) -> String? {
        if name == "reading" { return cell.utf8.count > 2 ? String(cell.dropFirst().dropLast()) : nil }
        let value = time(cell, name).map { JSONText.quoted($0.iso8601) } ?? cell
        return "\(JSONText.quoted(heading(name))):\(value)"
    }

    private static func isTime(_ column: String) -> Bool { column == "time_ms" || column == "ended_ms" }

    private static func heading(_ column: String) -> String { isTime(column) ? String(column.dropLast(3)) : column }

    private static func time(_ cell: String, _ column: String) -> RecordTime? {
        isTime(column) ? Int64(cell).map { RecordTime(milliseconds: $0) } : nil
    }
}
