import DeviceKit
import RecordFormat

/// What was recorded, as programs read it: one object a line.
enum HistoryObjects {
    /// Writes them.
    ///
    /// - Returns: How many there are.
    static func write(_ query: RecordQuery) throws -> Int {
        var (query, count) = (query, 0)
        let file = OutputFile()
        while let cells = try query.next() {
            count += 1
            let members = zip(query.columns, cells).compactMap(member)
            try file.write(Array("{\(members.joined(separator: ","))}\n".utf8))
        }
        return count
    }

    /// A member, or those of a reading; nil where there are none.
    private static func member(_ name: String, _ cell: String) -> String? {
        switch name {
        case "reading":
            let inner = cell.dropFirst().dropLast()
            return inner.isEmpty ? nil : String(inner)
        case "time_ms", "ended_ms":
            let time = Int64(cell).map { JSONText.quoted(RecordTime(milliseconds: $0).iso8601) }
            return "\(JSONText.quoted(String(name.dropLast(3)))):\(time ?? "null")"
        default: return "\(JSONText.quoted(name)):\(cell)"
        }
    }
}
