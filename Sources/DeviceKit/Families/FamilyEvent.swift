/// A line that a family's devices send unsolicited, or that begins or ends a long answer.
public struct FamilyEvent: Sendable, Hashable {
    /// The beginning of the line.
    public var line: String
    /// The meaning of the line, in one sentence.
    public var summary: String
    /// The name of the event in updates for programs: `manual`. Nil if updates report the line as a state or an
    /// error, or if the family has no updates.
    public var name: String?
    /// A short text for people: `button pressed`; nil to show the line as received.
    public var phrase: String?
    /// Whether the event is a change that a person has made at the device.
    public var isByHand: Bool

    /// Creates an event.
    public init(
        _ line: String, _ summary: String, name: String? = nil, phrase: String? = nil, isByHand: Bool = false
    ) {
        self.line = line
        self.summary = summary
        self.name = name
        self.phrase = phrase
        self.isByHand = isByHand
    }
}

/// An error that a family's devices report.
public struct FamilyError: Sendable, Hashable {
    /// The error code on the wire.
    public var code: String
    /// The meaning of the error, in one sentence.
    public var summary: String
    /// Advice for people; nil if there is none. `{NAME}` stands for the family's command of that name, which each
    /// program words in its own way.
    public var remedy: String?
    /// Whether the error is unsolicited and never answers a command.
    public var isUnsolicited: Bool

    /// Creates an error.
    public init(_ code: String, _ summary: String, remedy: String? = nil, isUnsolicited: Bool = false) {
        self.code = code
        self.summary = summary
        self.remedy = remedy
        self.isUnsolicited = isUnsolicited
    }

    /// Returns the remedy with each `{NAME}` replaced; nil if there is no remedy.
    ///
    /// - Parameter wording: Returns the text for the command of a name.
    public func remedy(_ wording: (_ command: String) -> String) -> String? { remedy.map { Self.worded($0, wording) } }

    /// Returns `text` with each `{NAME}` replaced by `wording`.
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
