/// Something that devices of a family say unasked.
public struct FamilyEvent: Sendable, Hashable {
    /// What the line begins with.
    public var line: String
    /// What it means, in a sentence.
    public var summary: String
    /// What programs are told of it as, by who follows a device: `manual`. Nil for what only tells the state, or an error.
    public var name: String?
    /// What people are told, in a few words: `button pressed`; nil for the line as it came.
    public var phrase: String?

    /// An event.
    public init(_ line: String, _ summary: String, name: String? = nil, phrase: String? = nil) {
        self.line = line
        self.summary = summary
        self.name = name
        self.phrase = phrase
    }
}

/// Something that devices of a family report as gone wrong.
public struct FamilyError: Sendable, Hashable {
    /// Its code, as it is on the wire.
    public var code: String
    /// What has happened, in a sentence.
    public var summary: String
    /// What a person can do about it. `{NAME}` stands for the family's command of that name, as it is given in the program
    /// that shows this.
    public var remedy: String?
    /// Whether it is said unasked, and never in answer to a command.
    public var isUnsolicited: Bool

    /// An error.
    public init(_ code: String, _ summary: String, remedy: String? = nil, isUnsolicited: Bool = false) {
        self.code = code
        self.summary = summary
        self.remedy = remedy
        self.isUnsolicited = isUnsolicited
    }

    /// The remedy, with commands worded by `wording`.
    public func remedy(_ wording: (_ command: String) -> String) -> String? { remedy.map { Self.worded($0, wording) } }

    /// `text` with each `{NAME}` in it worded.
    static func worded(_ text: String, _ wording: (_ command: String) -> String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            result += rest[..<start] + wording(String(rest[rest.index(after: start)..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
