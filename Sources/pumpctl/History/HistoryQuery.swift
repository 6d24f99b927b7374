import DeviceKit
import RecordFormat

/// Asks the program that keeps the record.
struct HistoryQuery {
    private let arguments: [String]
    /// The names of the columns, for where there is no database yet.
    private let columns: [String]

    /// Where the record is: one row with its path, how many bytes it has, and whether it is optimized.
    static let place = HistoryQuery(["where"])
    /// Builds the index by sessions: one row with whether it was missing.
    static let optimization = HistoryQuery(["optimize"])

    private init(_ arguments: [String], columns: [String] = []) {
        self.arguments = arguments
        self.columns = columns
    }

    /// The rows of a table.
    init(_ table: RecordTable, _ filter: RecordFilter) {
        self.init(["read", table.rawValue] + Self.words(filter), columns: table.columns)
    }

    /// Values over time, of at most two points in each of so many columns.
    init(columns: Int, _ filter: RecordFilter) { self.init(["fold", "\(columns)"] + Self.words(filter)) }

    private static func words(_ filter: RecordFilter) -> [String] {
        let times = [filter.since, filter.until].map { $0.map { "\($0.milliseconds)" } }
        return (times + [filter.family, filter.device]).map { $0 ?? "-" }
    }

    /// Hands out the rows as they come: the names of the columns first, then pieces of JSON.
    ///
    /// - Returns: How many rows there were, without the names.
    @discardableResult
    func forEachRow(_ body: ([String]) throws(Failure) -> Void) throws(Failure) -> Int {
        var count = 0
        try forEachAnswer { answer throws(Failure) in
            guard case .row(let cells) = answer else { return }
            count += 1
            try body(cells)
        }
        return count - 1
    }

    /// The values over time.
    func series() throws(Failure) -> [FoldedSeries] {
        var all: [FoldedSeries] = []
        try forEachAnswer { answer throws(Failure) in if case .series(let series) = answer { all.append(series) } }
        return all
    }

    private func forEachAnswer(_ body: (Answer) throws(Failure) -> Void) throws(Failure) {
        let conversation: RecordConversation
        do { conversation = try RecordConversation(arguments) } catch { throw Failure(error) }
        while let answer = try next(in: conversation) {
            guard case .failing(let trouble) = answer else {
                try body(answer)
                continue
            }
            // No database is one without rows.
            guard trouble.code == "not_found", arguments != Self.optimization.arguments else { throw Failure(trouble) }
            return try body(.row(columns))
        }
    }

    private func next(in conversation: RecordConversation) throws(Failure) -> Answer? {
        do { return try conversation.next() } catch { throw Failure(error) }
    }
}
