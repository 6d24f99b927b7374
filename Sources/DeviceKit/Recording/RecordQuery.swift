public import RecordFormat

/// What was recorded, asked of the program that keeps it. Each call may wait for the disk: not for the event loop's thread.
///
/// ```swift
/// var filter = RecordFilter()
/// filter.since = RecordTime(typed: "yesterday")
/// var query = try RecordQuery(.events, filter)
/// while let cells = try query.next() { print(zip(query.columns, cells).map { "\($0): \($1)" }) }
/// ```
public struct RecordQuery {
    /// Where the record is.
    public struct Place: Sendable, Hashable {
        /// The database's path.
        public var path: String
        /// How many bytes it has; 0 where nothing was recorded yet.
        public var byteCount: Int
        /// Whether sessions and devices are looked up fast in it: see ``RecordQuery/optimize(by:)``.
        public var isOptimized: Bool
    }

    /// The names of the columns.
    public let columns: [String]
    /// Nil where there is no database yet.
    private let answers: RecordConversation?

    /// Asks for the rows of a table.
    ///
    /// - Parameters:
    ///   - filter: Which of them.
    ///   - program: The program that keeps the record; nil for the one that is installed.
    public init(_ table: RecordTable, _ filter: RecordFilter, by program: CompanionProgram? = nil) throws(Trouble) {
        let answers = try RecordConversation(["read", table.rawValue] + Self.words(filter), by: program)
        let names = try Self.row(answers)
        columns = names ?? table.columns
        self.answers = names == nil ? nil : answers
    }

    /// The next row: a piece of JSON for each column. Nil at the end.
    public mutating func next() throws(Trouble) -> [String]? {
        guard let answers else { return nil }
        return try Self.row(answers)
    }

    /// Values over time.
    ///
    /// - Parameters:
    ///   - columns: How wide they are drawn: of each value there are two points at most in each column.
    ///   - filter: Of which readings.
    ///   - program: The program that keeps the record; nil for the one that is installed.
    public static func series(
        columns: Int, _ filter: RecordFilter, by program: CompanionProgram? = nil
    ) throws(Trouble) -> [FoldedSeries] {
        let answers = try RecordConversation(["fold", "\(columns)"] + words(filter), by: program)
        var all: [FoldedSeries] = []
        while let answer = try answer(answers) { if case .series(let series) = answer { all.append(series) } }
        return all
    }

    /// Where the record is.
    ///
    /// - Parameter program: The program that keeps the record; nil for the one that is installed.
    public static func place(by program: CompanionProgram? = nil) throws(Trouble) -> Place {
        let answers = try RecordConversation(["where"], by: program)
        guard let cells = try row(answers), cells.count == 3, let path = JSONText.unquoted(cells[0][...]),
            let count = Int(cells[1])
        else { throw Trouble(code: "lost", text: "pumpctl-record did not say where the record is", hint: "ask again") }
        return Place(path: path, byteCount: count, isOptimized: cells[2] == "true")
    }

    /// Makes it fast to look up sessions and devices in a large record that an older version has written.
    ///
    /// - Parameter program: The program that keeps the record; nil for the one that is installed.
    /// - Returns: Whether that was needed.
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

    /// The next answer. No database is one without rows.
    private static func answer(_ answers: RecordConversation) throws(Trouble) -> Answer? {
        let answer = try answers.next()
        guard case .failing(let trouble)? = answer else { return answer }
        guard trouble.code == "not_found" else { throw trouble }
        return nil
    }
}
