public import RecordFormat
internal import StrictJSON

/// A query of the record, answered by the program that keeps the record, `pumpctl-record`. Every call may block on the
/// disk, so don't call it on the event loop's thread.
///
/// ```swift
/// var filter = RecordFilter()
/// filter.since = RecordTime(typed: "yesterday")
/// var query = try RecordQuery(.events, filter)
/// while let cells = try query.next() { print(zip(query.columns, cells).map { "\($0): \($1)" }) }
/// ```
public struct RecordQuery {
    /// The location of the record.
    public struct Place: Sendable, Hashable {
        /// The path of the database.
        public var path: String
        /// The size of the database in bytes; 0 if nothing was recorded yet.
        public var byteCount: Int
        /// Whether the database has the index for sessions and devices: see ``RecordQuery/optimize(by:)``. Also true if
        /// there is no database.
        public var isOptimized: Bool
    }

    /// The names of the columns.
    public let columns: [String]
    /// The running query; nil if there is no database yet.
    private let answers: RecordConversation?

    /// Queries the rows of a table.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - filter: Selects the rows.
    ///   - program: The program that keeps the record; nil for the installed one.
    public init(_ table: RecordTable, _ filter: RecordFilter, by program: CompanionProgram? = nil) throws(Trouble) {
        let answers = try RecordConversation(["read", table.rawValue] + Self.words(filter), by: program)
        let names = try Self.row(answers)
        columns = names ?? table.columns
        self.answers = names == nil ? nil : answers
    }

    /// Returns the next row, with a piece of JSON for each column; nil at the end.
    public mutating func next() throws(Trouble) -> [String]? {
        guard let answers else { return nil }
        return try Self.row(answers)
    }

    /// Reads values over time.
    ///
    /// - Parameters:
    ///   - columns: The width of the plot, 1 to 10,000. Each series has at most two points in each column.
    ///   - filter: Selects the readings.
    ///   - program: The program that keeps the record; nil for the installed one.
    /// - Returns: A series for each value.
    public static func series(
        columns: Int, _ filter: RecordFilter, by program: CompanionProgram? = nil
    ) throws(Trouble) -> [FoldedSeries] {
        let answers = try RecordConversation(["fold", "\(columns)"] + words(filter), by: program)
        var all: [FoldedSeries] = []
        while let answer = try answer(answers) { if case .series(let series) = answer { all.append(series) } }
        return all
    }

    /// Returns the location of the record.
    ///
    /// - Parameter program: The program that keeps the record; nil for the installed one.
    public static func place(by program: CompanionProgram? = nil) throws(Trouble) -> Place {
        let answers = try RecordConversation(["where"], by: program)
        guard let cells = try row(answers), cells.count == 3, let path = JSONValue.text(of: cells[0]),
            let count = Int(cells[1])
        else {
            throw Trouble(
                code: "lost", text: "pumpctl-record did not return the path of the record", hint: "try again")
        }
        return Place(path: path, byteCount: count, isOptimized: cells[2] == "true")
    }

    /// Adds the index for sessions and devices to a record that an older version has written. The index makes lookups
    /// in a large record fast.
    ///
    /// - Parameter program: The program that keeps the record; nil for the installed one.
    /// - Returns: Whether this call has added the index. Also false if the record is so small that opening it has added
    ///   the index.
    public static func optimize(by program: CompanionProgram? = nil) throws(Trouble) -> Bool {
        let answers = try RecordConversation(["optimize"], by: program)
        while let answer = try answers.next() {
            if case .failing(let trouble) = answer { throw trouble }
            if case .row(let cells) = answer { return cells == ["true"] }
        }
        return false
    }

    private static func words(_ filter: RecordFilter) -> [String] {
        let times = [filter.since, filter.until].map { $0.map { "\($0.milliseconds)" } }
        return (times + [filter.family, filter.device]).map { $0 ?? "-" }
    }

    private static func row(_ answers: RecordConversation) throws(Trouble) -> [String]? {
        while let answer = try answer(answers) { if case .row(let cells) = answer { return cells } }
        return nil
    }

    /// Waits for the next answer. Returns nil at the end, and also if there is no database, which counts as one without
    /// rows.
    private static func answer(_ answers: RecordConversation) throws(Trouble) -> Answer? {
        let answer = try answers.next()
        guard case .failing(let trouble)? = answer else { return answer }
        guard trouble.code == "not_found" else { throw trouble }
        return nil
    }
}
