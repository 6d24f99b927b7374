/// What the program that keeps the record says, a line each: fields between tabs.
public enum Answer: Sendable, Hashable {
    /// A row of a table; the first one has the names of the columns. The others are pieces of JSON.
    case row([String])
    /// A value over time, for a chart.
    case series(FoldedSeries)
    /// A message that is kept.
    case message(StoredMessage)
    /// What ``MessageRequest/commit`` was about is on the disk: which of the messages to store were new, in their order.
    case committed(isNew: [Bool])
    /// Nothing of what ``MessageRequest/commit`` was about is.
    case refused(Trouble)
    /// It can't be read or written.
    case failing(Trouble)
    /// Records are let go.
    case overflowing
    /// It is written again; `lost` records are not there.
    case recovered(lost: Int)
    /// All that came was written, or is lost.
    case done(written: Int, lost: Int)

    /// The answer on one line without its end.
    public var line: String {
        switch self {
        case .row(let cells): "row\t" + cells.joined(separator: "\t")
        case .series(let series): (["series"] + series.fields).joined(separator: "\t")
        case .message(let message): (["message"] + message.fields).joined(separator: "\t")
        case .committed(let isNew): "committed\t" + isNew.map { $0 ? "1" : "0" }.joined()
        case .refused(let trouble): (["refused"] + trouble.fields).joined(separator: "\t")
        case .failing(let trouble): (["failing"] + trouble.fields).joined(separator: "\t")
        case .overflowing: "overflowing"
        case .recovered(let lost): "recovered\t\(lost)"
        case .done(let written, let lost): "done\t\(written)\t\(lost)"
        }
    }

    /// Reads a line; nil if it is none of an answer.
    public init?(line: Substring) {
        let fields = line.fields
        let numbers = fields[1...].map { Int($0) }
        switch (fields.first, fields.count) {
        case ("row", _): self = .row(fields[1...].map { String($0) })
        case ("series", _):
            guard let series = FoldedSeries(fields: fields[1...]) else { return nil }
            self = .series(series)
        case ("message", _):
            guard let message = StoredMessage(fields: fields[1...]) else { return nil }
            self = .message(message)
        case ("committed", 2): self = .committed(isNew: fields[1].utf8.map { $0 == UInt8(ascii: "1") })
        case ("refused", 4): self = .refused(Trouble(fields: fields[1...]))
        case ("failing", 4): self = .failing(Trouble(fields: fields[1...]))
        case ("overflowing", 1): self = .overflowing
        case ("recovered", 2):
            guard let lost = numbers[0] else { return nil }
            self = .recovered(lost: lost)
        case ("done", 3):
            guard let written = numbers[0], let lost = numbers[1] else { return nil }
            self = .done(written: written, lost: lost)
        default: return nil
        }
    }
}

/// Why the record can't be read or written.
public struct Trouble: Error, Sendable, Hashable {
    /// A stable word for programs.
    public var code: String
    /// What went wrong, in one sentence without a full stop.
    public var text: String
    /// What to do about it.
    public var hint: String

    /// An error of that code.
    public init(code: String, text: String, hint: String) {
        self.code = code
        self.text = text
        self.hint = hint
    }

    fileprivate var fields: [String] { [code, text, hint].map(JSONText.quoted) }

    fileprivate init(fields: ArraySlice<Substring>) {
        let texts = fields.map { JSONText.unquoted($0) ?? "" }
        self.init(code: texts[0], text: texts[1], hint: texts[2])
    }
}
