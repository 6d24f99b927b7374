internal import StrictJSON

/// A line of output of `pumpctl-record`, with fields separated by tabs.
public enum Answer: Sendable, Hashable {
    /// A row. The first row of a table (`pumpctl-record read`) has the names of the columns; all other cells are JSON
    /// values.
    case row([String])
    /// A series of values over time, for a chart.
    case series(FoldedSeries)
    /// A stored message.
    case message(StoredMessage)
    /// The result of ``MessageRequest/commit``: the requests are on the disk. `isNew` has for each request to store a
    /// message, in order, whether the message was new.
    case committed(isNew: [Bool])
    /// The failure of ``MessageRequest/commit``. No request since the last commit was carried out.
    case refused(Trouble)
    /// Reading or writing the record fails. After a failure to read, no answer follows; writing is retried.
    case failing(Trouble)
    /// The memory limit is reached, and new records are dropped.
    case overflowing
    /// Writing works again. `lost` is the number of lost records since recording began.
    case recovered(lost: Int)
    /// The end of recording, with the numbers of written and lost records.
    case done(written: Int, lost: Int)

    /// The answer as a line, without its end.
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

    /// Parses a line; nil if it is no answer.
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

/// A failure to read or write the record, or to start a program for that.
public struct Trouble: Error, Sendable, Hashable {
    /// A stable code for programs, such as `not_found`.
    public var code: String
    /// The failure in one sentence, without a full stop.
    public var text: String
    /// An instruction for a person who wants to fix the failure.
    public var hint: String

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - code: A stable code for programs.
    ///   - text: The failure in one sentence, without a full stop.
    ///   - hint: An instruction for a person who wants to fix the failure.
    public init(code: String, text: String, hint: String) {
        self.code = code
        self.text = text
        self.hint = hint
    }

    fileprivate var fields: [String] { [code, text, hint].map(JSONValue.quoted) }

    fileprivate init(fields: ArraySlice<Substring>) {
        let texts = fields.map { JSONValue.text(of: $0) ?? "" }
        self.init(code: texts[0], text: texts[1], hint: texts[2])
    }
}
