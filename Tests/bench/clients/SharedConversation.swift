/// One client's queries of a shared pump, and a check that each received line answers one of them.
///
/// A query in flight during an unplugging is refused or gets no reply. Any other line that answers nothing is an error:
/// it belongs to another client or is stale.
struct SharedConversation: Sendable {
    /// A line, and the beginnings of its reply's lines. STATUS is not used, because an unsolicited report would count
    /// as its reply.
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

    /// A line that answers no query.
    struct MixedUp: Error, CustomStringConvertible {
        var line: String
        /// The last lines sent and received.
        var before: [String]
        var description: String {
            "\(line.debugDescription) answers nothing; before: \(before.joined(separator: " | "))"
        }
    }

    static let away = "[WARNING] the device is away"
    static let back = "[WARNING] the device is back"
    static let refusal = "ERROR:DEVICE_AWAY"

    /// The number of queries with a reply.
    private(set) var answered = 0
    /// The number of queries refused while the pump was away.
    private(set) var refused = 0
    /// The number of queries without a reply because the pump was unplugged.
    private(set) var lost = 0
    /// Whether only the refusal of a query may arrive until the pump is back.
    private(set) var isAway = false
    /// Whether the pump is back and may still reply to earlier queries, which a reply to a later query decides.
    private(set) var isInDoubt = false
    /// Whether the pump may have been in the middle of a line when it was plugged in.
    private var mayHearTail = false
    private var open: [OpenQuestion] = []
    private var transcript: [String] = []

    private struct OpenQuestion: Sendable {
        let question: Question
        var heard: [String] = []
        /// Whether the pump was unplugged since the query.
        var mayBeLost = false
    }

    /// The beginnings of a pump's lines.
    private static let beginnings = ["OK", "SPEED:", "STATUS:", "TEMP:", "ERROR:"]

    /// Whether nothing more is expected.
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
            // A reply that has begun does not continue.
            lost += open.count { !$0.heard.isEmpty }
            open.removeAll { !$0.heard.isEmpty }
            for index in open.indices { open[index].mayBeLost = true }
        case Self.back:
            (isAway, isInDoubt, mayHearTail) = (false, !open.isEmpty, true)
        // The refusal may come just before the notice that the pump is away.
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
            // The apparent reply belongs to the next query.
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
