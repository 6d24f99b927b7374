/// An invalid part of an option's value: one of several faults, steps, or rules.
public struct WrongPart: Error, Sendable, Hashable {
    /// A problem with a part.
    public enum Problem: Sendable, Hashable {
        /// No fault or rule has that name.
        case unknown(UnknownWord)
        /// The named fault or rule takes another value. `what` describes the accepted values, such as `a time, e.g.
        /// delay=500ms`.
        case takes(String, what: String)
        /// The text is no occasion for a fault or step.
        case occasion(String)
        /// The named fault can't begin on the occasion `at`.
        case neverBegins(String, at: String)
        /// A step has an occasion, but no verb.
        case noVerb
        /// The part is a second fault of the device's own. A device can have only one such fault at a time.
        case second
    }

    /// The part as typed.
    public var part: String
    /// The problem with the part.
    public var problem: Problem

    init(_ part: some StringProtocol, _ problem: Problem) {
        self.part = String(part)
        self.problem = problem
    }
}

/// A word that is no known name.
public struct UnknownWord: Sendable, Hashable {
    /// The kind of name that was expected: `fault`, `rule`, `verb` or `option`.
    public var kind: String
    /// The word.
    public var word: String
    /// The known names of that kind.
    public var known: [String]
}

extension WrongPart: CustomStringConvertible {
    public var description: String {
        let detail =
            switch problem {
            case .unknown(let unknown): "unknown \(unknown.kind) '\(unknown.word)'"
            case .takes(let name, let what): "\(name) takes \(what)"
            case .occasion(let text): "'\(text)' is not an occasion"
            case .neverBegins(let name, let text): "\(name) can't begin at '\(text)'"
            case .noVerb: "the verb is missing"
            case .second: "a device can have only one fault of its own at a time"
            }
        return "'\(part)': \(detail)"
    }

    /// A suggested remedy; nil if the description already says what to do.
    public var hint: String? {
        switch problem {
        case .unknown(let unknown): "use one of: \(unknown.known.joined(separator: ", "))"
        case .occasion(let text) where Double(text) != nil: "write \(text)s, \(text)% or command:\(text)"
        case .occasion: "use one of: 5%, 30s, command:3, line:TEXT"
        case .noVerb: "add a verb, e.g. '10s reset'"
        case .neverBegins(_, let text): "leave out '@\(text)'"
        case .second: "leave out '\(part)'"
        case .takes: nil
        }
    }
}
