import RecordFormat

/// Asks the program that keeps the record for a table.
struct HistoryQuery {
    private let arguments: [String]

    /// Where the record is: one row with its path and how many bytes it has.
    static let place = HistoryQuery(arguments: ["where"])

    private init(arguments: [String]) { self.arguments = arguments }

    init(_ table: RecordTable, _ filter: RecordFilter) {
        let words = [
            filter.since.map { "\($0.milliseconds)" }, filter.until.map { "\($0.milliseconds)" }, filter.family,
            filter.device,
        ]
        arguments = ["read", table.rawValue] + words.map { $0 ?? "-" }
    }

    /// Hands out the rows as they come: the names of the columns first, then pieces of JSON.
    func forEachRow(_ body: ([String]) throws(Failure) -> Void) throws(Failure) {
        let conversation: RecordConversation
        do { conversation = try RecordConversation(arguments) } catch { throw Failure(error) }
        while let answer = try next(in: conversation) {
            switch answer {
            case .row(let cells): try body(cells)
            case .failing(let trouble): throw Failure(trouble)
            default: break
            }
        }
    }

    private func next(in conversation: RecordConversation) throws(Failure) -> Answer? {
        do { return try conversation.next() } catch { throw Failure(error) }
    }
}
