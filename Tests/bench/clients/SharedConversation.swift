/// What one client asks a shared pump, and whether each line that it hears answers a question of its own.
///
/// A question that meets an unplugging is refused or stays unanswered. Any other line that answers nothing is an error: it is
/// somebody else's, or an old one.
struct SharedConversation: Sendable {
    /// A line, and how the lines of its answer begin. It is not STATUS: a report that comes unasked would pass for the answer.
    struct Question: Sendable {
        var line: String
        var answer: [String]

        static func speed(_ number: Int) -> Question {
            Question(line: "SPEED:\(number)", answer: ["OK", "SPEED:\(number)"])
        }

        static func unknown(_ number: Int) -> Question {
            Question(line: "WHAT\(number)", answer: ["ERROR:UNKNOWN_COMMAND"])
        }

        static let temperatures = Question(line: "TEMP", answer: ["TEMP:{Water:"])
    }

    /// A line that answers nothing that was asked.
    struct MixedUp: Error, CustomStringConvertible {
        var line: String
        /// What was said and heard last.
        var before: [String]
        var description: String {
            "\(line.debugDescription) answers nothing; before: \(before.joined(separator: " | "))"
        }
    }

    static let away = "[WARNING] the device is away"
    static let back = "[WARNING] the device is back"
    static let refusal = "ERROR:DEVICE_AWAY"

    /// How many questions were answered.
    private(set) var answered = 0
    /// How many were refused, since the pump was away.
    private(set) var refused = 0
    /// How many were not answered, since the pump was unplugged meanwhile.
    private(set) var lost = 0
    /// Whether only the refusal of a question may be heard until the pump is back.
    private(set) var isAway = false
    /// Whether the pump is back and may still answer what was asked before: the answer to another question tells.
    private(set) var isInDoubt = false
    /// Whether the pump may have been in the midst of a line as it was plugged in.
    private var mayHearTail = false
    private var open: [OpenQuestion] = []
    private var transcript: [String] = []

    private struct OpenQuestion: Sendable {
        let question: Question
        var heard: [String] = []
        /// Whether the pump was unplugged since it was asked.
        var mayBeLost = false
    }

    /// How the lines of a pump begin.
    private static let beginnings = ["OK", "SPEED:", "STATUS:", "TEMP:", "ERROR:"]

    /// Whether nothing more is to come.
    var isAnswered: Bool { open.isEmpty && !isAway }

    mutating func ask(_ question: Question) {
        note("> \(question.line)")
        open.append(OpenQuestion(question: question))
        isInDoubt = false
    }

    mutating func hear(_ line: String) throws(MixedUp) {
        note("< \(line)")
        switch line {
        case Self.away:
            isAway = true
            // An answer that has begun does not go on.
            lost += open.count { !$0.heard.isEmpty }
            open.removeAll { !$0.heard.isEmpty }
            for index in open.indices { open[index].mayBeLost = true }
        case Self.back:
            (isAway, isInDoubt, mayHearTail) = (false, !open.isEmpty, true)
        // It may come just before the word that the pump is away.
        case Self.refusal where open.first?.heard.isEmpty == true:
            isAway = true
            refused += 1
            open.removeFirst()
        case _ where mayHearTail && !Self.beginnings.contains { line.hasPrefix($0) }: mayHearTail = false
        case _ where isAway: throw mixedUp(line)
        default:
            mayHearTail = false
            try hearAnswer(line)
        }
    }

    private mutating func hearAnswer(_ line: String) throws(MixedUp) {
        if let first = open.first, line.hasPrefix(first.question.answer[first.heard.count]) {
            open[0].heard.append(line)
            guard open[0].heard.count == first.question.answer.count else { return }
            answered += 1
            open.removeFirst()
        } else if line.isReport {
            return
        } else if let first = open.first, first.mayBeLost {
            // What seemed to be its answer is the next one's.
            lost += 1
            open.removeFirst()
            for line in first.heard + [line] { try hearAnswer(line) }
        } else {
            throw mixedUp(line)
        }
    }

    private func mixedUp(_ line: String) -> MixedUp { MixedUp(line: line, before: transcript) }

    private mutating func note(_ line: String) {
        transcript = transcript.suffix(30) + [line]
    }
}
