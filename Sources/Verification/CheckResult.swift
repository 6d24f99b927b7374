internal import LineProtocol

/// What became of one check.
public struct CheckResult: Sendable {
    /// How a check can end.
    public enum Outcome: Sendable, Hashable {
        /// The firmware keeps the protocol here.
        case passed
        /// It does not.
        case failed(expected: String, got: String)
        /// Nothing is known, for that reason.
        case skipped(reason: String)
    }

    /// What went over the link, or was done at the device.
    public enum Step: Sendable, Hashable {
        case sent([UInt8])
        case received([UInt8])
        /// A verb of the stimulus with its arguments.
        case did(String)
        /// So many lines that were received, of which none is told.
        case leftOut(lines: Int)
    }

    /// ``Check/id``.
    public let id: String
    /// ``Check/rule``.
    public let rule: String
    /// From 1 on: which repetition it belongs to.
    public let round: Int
    public let outcome: Outcome
    /// Which of several forms that the protocol allows this firmware has.
    public let variants: [String]
    /// In order.
    public let steps: [Step]
    /// How long it took; nil where it has no time of its own, as one that was not made.
    public let time: Duration?

    package init(
        id: String, rule: String, round: Int = 1, outcome: Outcome, variants: [String] = [], steps: [Step] = [],
        time: Duration? = nil
    ) {
        (self.id, self.rule, self.round, self.outcome) = (id, rule, round, outcome)
        (self.variants, self.steps, self.time) = (variants, steps, time)
    }

    /// Whether it failed.
    public var isFailure: Bool { if case .failed = outcome { true } else { false } }

    /// What was sent, a write each; what a device can't print is escaped.
    public var sent: [String] { steps.compactMap { if case .sent(let bytes) = $0 { bytes.shown } else { nil } } }

    /// What came back, a line each, its end apart.
    public var received: [String] {
        steps.compactMap {
            switch $0 {
            case .received(let bytes): bytes.shown
            case .leftOut(let count): "… \(count) more lines"
            case .sent, .did: nil
            }
        }
    }

    /// What was done at the device.
    public var done: [String] { steps.compactMap { if case .did(let verb) = $0 { verb } else { nil } } }
}

extension [UInt8] {
    /// As it may be printed, with line ends as `\n` and `\r`; what is long is cut.
    var shown: String {
        printable(limit: 200).replacing("\\x0a", with: "\\n").replacing("\\x0d", with: "\\r")
    }
}
