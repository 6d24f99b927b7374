internal import LineProtocol

/// The result of one check.
public struct CheckResult: Sendable {
    /// The outcome of a check.
    public enum Outcome: Sendable, Hashable {
        /// The tested firmware or program keeps the rule.
        case passed
        /// The tested firmware or program breaks the rule.
        case failed(expected: String, got: String)
        /// The check was not made or could not be decided, for the given reason.
        case skipped(reason: String)
    }

    /// An entry of the transcript: data on the link, or an action at the device.
    public enum Step: Sendable, Hashable {
        /// The bytes of one write to the link.
        case sent([UInt8])
        /// One line from the link without its end, one JSON object, or a whole packet if the link keeps packet bounds.
        case received([UInt8])
        /// An action of the ``Stimulus``, with its arguments.
        case did(String)
        /// A number of entries that the transcript leaves out.
        case leftOut(lines: Int)
    }

    /// The ``Check/id`` of the check.
    public let id: String
    /// The ``Check/rule`` of the check.
    public let rule: String
    /// The number of the repetition to which the result belongs, from 1 on.
    public let round: Int
    /// The outcome of the check.
    public let outcome: Outcome
    /// If the protocol allows several forms: the forms that this firmware uses, in words.
    public let variants: [String]
    /// The transcript, in order.
    public let steps: [Step]
    /// The duration of the check; nil if the check was not made or the duration was not measured.
    public let time: Duration?

    package init(
        id: String, rule: String, round: Int = 1, outcome: Outcome, variants: [String] = [], steps: [Step] = [],
        time: Duration? = nil
    ) {
        (self.id, self.rule, self.round, self.outcome) = (id, rule, round, outcome)
        (self.variants, self.steps, self.time) = (variants, steps, time)
    }

    /// Whether the check failed.
    public var isFailure: Bool { if case .failed = outcome { true } else { false } }

    /// The bytes of each write, with unprintable characters escaped, each cut after 200 characters.
    public var sent: [String] { steps.compactMap { if case .sent(let bytes) = $0 { bytes.shown } else { nil } } }

    /// The received lines without their ends, with unprintable characters escaped, each cut after 200 characters. `… 12
    /// more lines` stands for entries that the transcript leaves out.
    public var received: [String] {
        steps.compactMap {
            switch $0 {
            case .received(let bytes): bytes.shown
            case .leftOut(let count): "… \(count) more lines"
            case .sent, .did: nil
            }
        }
    }

    /// The actions of the ``Stimulus``, with their arguments.
    public var done: [String] { steps.compactMap { if case .did(let verb) = $0 { verb } else { nil } } }
}

extension [UInt8] {
    /// The bytes as printable text with line ends as `\n` and `\r`, cut after 200 characters.
    var shown: String {
        printable(limit: 200).replacing("\\x0a", with: "\\n").replacing("\\x0d", with: "\\r")
    }
}
