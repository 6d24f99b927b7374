/// A part of an option's value that is none: one of several faults, steps, or rules.
public struct WrongPart: Error, Sendable, Hashable {
    /// What is wrong with a part.
    public enum Problem: Sendable, Hashable {
        /// There is no fault, or no rule, of that name.
        case unknown(UnknownWord)
        /// What was named takes something else, as `a time, as in delay=500ms`.
        case takes(String, what: String)
        /// This is no occasion for it.
        case occasion(String)
        /// What was named can't begin on that occasion.
        case neverBegins(String, at: String)
        /// A step says when, and not what.
        case noVerb
        /// A device has one fault of its own at a time.
        case second
    }

    /// The part as it was written.
    public var part: String
    /// What is wrong with it.
    public var problem: Problem

    init(_ part: some StringProtocol, _ problem: Problem) {
        self.part = String(part)
        self.problem = problem
    }
}

/// A word that names nothing.
public struct UnknownWord: Sendable, Hashable {
    /// What it should have named: `fault`, `rule`, `verb` or `option`.
    public var kind: String
    /// The word.
    public var word: String
    /// What there is.
    public var known: [String]
}

extension WrongPart: CustomStringConvertible {
    public var description: String {
        let detail =
            switch problem {
            case .unknown(let unknown): "there is no \(unknown.kind) '\(unknown.word)'"
            case .takes(let name, let what): "\(name) takes \(what)"
            case .occasion(let text): "'\(text)' is not an occasion"
            case .neverBegins(let name, let text): "\(name) can't begin at '\(text)'"
            case .noVerb: "it has no verb"
            case .second: "a device has one fault of its own at a time"
            }
        return "'\(part)': \(detail)"
    }

    /// What to do about it; nil where the description says that.
    public var hint: String? {
        switch problem {
        case .unknown(let unknown): "use one of: \(unknown.known.joined(separator: ", "))"
        case .occasion(let text) where Double(text) != nil: "write \(text)s, \(text)% or command:\(text)"
        case .occasion: "use one of: 5%, 30s, command:3, line:TEXT"
        case .noVerb: "add what happens, as in '10s reset'"
        case .neverBegins(_, let text): "leave out '@\(text)'"
        case .second: "leave out '\(part)'"
        case .takes: nil
        }
    }
}
