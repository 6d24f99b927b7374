internal import LineProtocol
public import RecordFormat
internal import StrictJSON

/// Rows for people and programs, with calendar times instead of milliseconds.
extension RecordQuery {
    /// The headings of the columns for people.
    public var headings: [String] { columns.map { Self.heading($0).printable() } }

    /// Returns the next row as the texts of its cells; nil at the end. A cell without a value is empty, and control
    /// characters are escaped.
    ///
    /// - Parameter time: Formats a time.
    public mutating func nextTexts(_ time: (RecordTime) -> String) throws(Trouble) -> [String]? {
        try next().map { Self.texts(columns, $0, time) }
    }

    /// Returns the next row as one JSON object; nil at the end. The members of a reading are on one level with the
    /// columns, and times are in UTC in ISO 8601.
    public mutating func nextObject() throws(Trouble) -> String? {
        try next().map(object)
    }

    /// Returns a row of this query as one JSON object; see ``nextObject()``.
    public func object(_ cells: [String]) -> String { Self.object(columns, cells) }

    static func texts(_ columns: [String], _ cells: [String], _ time: (RecordTime) -> String) -> [String] {
        zip(columns, cells).map { column, cell in
            if cell == "null" { return "" }
            if let moment = self.time(cell, column) { return time(moment) }
            return (JSONValue.text(of: cell) ?? cell).printable()
        }
    }

    static func object(_ columns: [String], _ cells: [String]) -> String {
        "{\(zip(columns, cells).compactMap(member).joined(separator: ","))}"
    }

    /// Returns the JSON member for a cell, or the members of a reading; nil for an empty reading.
    private static func member(_ name: String, _ cell: String) -> String? {
        if name == "reading" { return cell.utf8.count > 2 ? String(cell.dropFirst().dropLast()) : nil }
        let value = time(cell, name).map { JSONValue.quoted($0.iso8601) } ?? cell
        return "\(JSONValue.quoted(heading(name))):\(value)"
    }

    private static func isTime(_ column: String) -> Bool { column == "time_ms" || column == "ended_ms" }

    private static func heading(_ column: String) -> String { isTime(column) ? String(column.dropLast(3)) : column }

    private static func time(_ cell: String, _ column: String) -> RecordTime? {
        isTime(column) ? Int64(cell).map { RecordTime(milliseconds: $0) } : nil
    }
}
