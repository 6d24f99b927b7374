import DeviceKit
import RecordFormat

/// What was recorded, as programs read it: one object a line.
struct HistoryObjects {
    private let query: HistoryQuery

    init(_ query: HistoryQuery) { self.query = query }

    /// Writes them.
    ///
    /// - Returns: How many there are.
    func write() throws(Failure) -> Int {
        let file = OutputFile()
        var names: [String]?
        return try query.forEachRow { cells throws(Failure) in
            guard let names else {
                names = cells
                return
            }
            var members: [String] = []
            for (name, cell) in zip(names, cells) {
                switch name {
                case "reading":
                    let inner = cell.dropFirst().dropLast()
                    if !inner.isEmpty { members.append(String(inner)) }
                case "time_ms", "ended_ms":
                    let time = Int64(cell).map { JSONText.quoted(WallTime(RecordTime(milliseconds: $0)).iso8601) }
                    members.append("\(JSONText.quoted(String(name.dropLast(3)))):\(time ?? "null")")
                default: members.append("\(JSONText.quoted(name)):\(cell)")
                }
            }
            try file.write(results: Array("{\(members.joined(separator: ","))}\n".utf8))
        }
    }
}
