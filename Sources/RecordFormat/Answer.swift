/// What the program that keeps the record says, a line each: fields between tabs.
public enum Answer: Sendable, Hashable {
    /// A row of a table; the first one has the names of the columns. The others are pieces of JSON.
    case row([String])
    /// What was recorded before `flush` is on the disk.
    case flushed
    /// It can't be read or written.
    case failing(Trouble)
    /// Records are let go.
    case overflowing
    /// It is written again; `lost` records are not there.
    case recovered(lost: Int)
    /// All that came was written, or is lost.
    case done(written: Int, lost: Int)

    /// The line that asks for ``flushed``.
    public static let flush = "flush"

    /// The answer on one line without its end.
    public var line: String {
        switch self {
        case .row(let cells): "row\t" + cells.joined(separator: "\t")
        case .flushed: "flushed"
        case .failing(let trouble):
            (["failing"] + [trouble.code, trouble.text, trouble.hint].map(JSONText.quoted)).joined(separator: "\t")
        case .overflowing: "overflowing"
        case .recovered(let lost): "recovered\t\(lost)"
        case .done(let written, let lost): "done\t\(written)\t\(lost)"
        }
    }

    /// Reads a line; nil if it is none of an answer.
    public init?(line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        let numbers = fields[1...].map { Int($0) }
        switch (fields.first, fields.count) {
        case ("row", _): self = .row(fields[1...].map { String($0) })
        case ("flushed", 1): self = .flushed
        case ("failing", 4):
            let texts = fields[1...].map { JSONText.unquoted($0) ?? "" }
            self = .failing(Trouble(code: texts[0], text: texts[1], hint: texts[2]))
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
}
