/// One client's commands to a shared pump, and a check that each received line is the reply to one of them, a report,
/// or a notice of the daemon.
///
/// A command in flight during an unplugging is refused, gets no reply, or gets it late. Any other line is an error: the
/// reply to another client, or a stale one.
struct SharedConversation: Sendable {
    /// A command, and the beginning of each line of its reply. STATUS is not used, because an unsolicited report would
    /// count as the reply.
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

    /// A line that is no reply to any command of this client.
    struct MixedUp: Error, CustomStringConvertible {
        var line: String
        /// The last lines sent and received.
        var before: [String]
        var description: String {
            "\(line.debugDescription) answers nothing; before: \(before.joined(separator: " | "))"
        }
    }

    /// The daemon's notice that the link to the pump is lost.
    static let away = "[WARNING] the device is away"
    /// The daemon's notice that the link to the pump is open again.
    static let back = "[WARNING] the device is back"
    /// The daemon's reply to a command that it can't send.
    static let refusal = "ERROR:DEVICE_AWAY"

    /// The number of commands with a complete reply.
    private(set) var answered = 0
    /// The number of commands that the daemon has refused.
    private(set) var refused = 0
    /// The number of commands without a reply, because the pump was unplugged or the reply was late.
    private(set) var lost = 0
    /// Whether the pump is away, so that no line but a refusal may arrive until it is back.
    private(set) var isAway = false
    /// Whether the pump is there, and it is unknown whether it will reply to the open commands. The client must send
    /// another command: if the reply to that comes first, they get none.
    private(set) var isInDoubt = false
    /// Whether the next line may be the tail of one that the pump was sending when it was plugged in.
    private var mayHearTail = false
    /// The commands without a complete reply, in order.
    private var open: [OpenQuestion] = []
    private var transcript: [String] = []

    private struct OpenQuestion: Sendable {
        let question: Question
        var heard: [String] = []
        /// Whether the reply may never come.
        var mayBeLost = false
    }

    /// The beginnings of a pump's lines.
    private static let beginnings = ["OK", "SPEED:", "STATUS:", "TEMP:", "ERROR:"]

    /// Whether the pump is there and every command has its reply, or was refused or lost.
    var isAnswered: Bool { open.isEmpty && !isAway }

    /// Records that the client sends a command.
    mutating func ask(_ question: Question) {
        note("> \(question.line)")
        open.append(OpenQuestion(question: question))
        isInDoubt = false
    }

    /// Records a line that the client receives; throws if the line is no reply to this client.
    mutating func hear(_ line: String) throws(MixedUp) {
        note("< \(line)")
        switch line {
        case Self.away:
            isAway = true
            loseAnswers()
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

    /// Notes that no line has come for a long time. The daemon withholds the reply of a pump that a busy machine has
    /// delayed, because it might pass for the reply to a later command.
    mutating func hearNothing() {
        if isAway { return }
        loseAnswers()
        isInDoubt = !open.isEmpty
    }

    private mutating func loseAnswers() {
        // A reply of which some lines have come does not continue.
        lost += open.count { !$0.heard.isEmpty }
        open.removeAll { !$0.heard.isEmpty }
        for index in open.indices { open[index].mayBeLost = true }
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
            // The oldest command got no reply: its lines so far belong to the next command.
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
