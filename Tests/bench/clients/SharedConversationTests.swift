import Testing

@Suite("Bench: oracle for clients of a shared pump")
struct SharedConversationTests {
    /// Returns a conversation with these lines, in order. A line that begins with `>` is a command of the client, and any
    /// other is received; an empty one stands for a long silence.
    private func conversation(_ lines: String...) throws -> SharedConversation {
        var conversation = SharedConversation()
        for line in lines {
            switch line {
            case "": conversation.hearNothing()
            case "> TEMP": conversation.ask(.temperatures)
            case "> WHAT": conversation.ask(.unknown(1))
            case _ where line.hasPrefix("> SPEED:"): conversation.ask(.speed(Int(line.dropFirst(8)) ?? 0))
            default: try conversation.hear(line)
            }
        }
        return conversation
    }

    private static let report = "STATUS:{State:ON,Speed:78%}"

    @Test("A client's own reply is accepted, with reports in between")
    func answers() throws {
        let heard = try conversation(
            "> SPEED:1", Self.report, "OK", Self.report, "SPEED:1", "> TEMP", Self.report, "TEMP:{Water:1C}",
            Self.report)
        #expect(heard.answered == 2)
        #expect(heard.isAnswered)
    }

    @Test(
        "Another client's reply, or an old one, is rejected",
        arguments: [
            ["> SPEED:1", "OK", "SPEED:2"], ["> SPEED:1", "SPEED:1"], ["> SPEED:1", "ERROR:UNKNOWN_COMMAND"], ["OK"],
            ["> SPEED:1", "OK", "SPEED:1", "SPEED:1"], ["> SPEED:1", "OK", "OK"], ["> SPEED:1", "bogus"],
            ["> SPEED:1", away, "OK"], ["> SPEED:1", away, back, "SPEED:1"], [away, back, "OK"],
            [away, back, "x", "x"],
            ["> SPEED:1", "OK", away, back, "> SPEED:2", "SPEED:1"], [refusal],
            ["> SPEED:1", away, back, "> SPEED:2", "OK", "SPEED:3"], ["> SPEED:1", away, refusal, refusal],
        ])
    func mixedUp(lines: [String]) throws {
        var conversation = SharedConversation()
        #expect(throws: SharedConversation.MixedUp.self) {
            for line in lines {
                if line.hasPrefix("> ") {
                    conversation.ask(.speed(Int(line.dropFirst(8)) ?? 0))
                } else {
                    try conversation.hear(line)
                }
            }
        }
    }

    private static let away = SharedConversation.away
    private static let back = SharedConversation.back
    private static let refusal = SharedConversation.refusal

    @Test("A refusal or a late reply is accepted after an unplugging, and silence at any time")
    func unplugged() throws {
        let refused = try conversation("> SPEED:1", Self.away, Self.refusal)
        #expect((refused.refused, refused.lost, refused.isAnswered) == (1, 0, false))
        let early = try conversation("> SPEED:1", Self.refusal, Self.away, Self.back)
        #expect((early.refused, early.isAnswered, early.isInDoubt) == (1, true, false))
        let brokenOff = try conversation("> SPEED:1", "OK", Self.away, Self.back)
        #expect((brokenOff.lost, brokenOff.isAnswered) == (1, true))
        let open = try conversation("> SPEED:1", Self.away, Self.back)
        #expect((open.isAnswered, open.isInDoubt) == (false, true))
        let silent = try conversation("> SPEED:1", Self.away, Self.back, "> SPEED:2", "OK", "SPEED:2")
        #expect((silent.answered, silent.lost, silent.isAnswered) == (1, 1, true))
        let late = try conversation(
            "> SPEED:1", Self.away, Self.back, "> SPEED:2", "OK", "SPEED:1", "OK", "SPEED:2")
        #expect((late.answered, late.lost, late.isAnswered) == (2, 0, true))
        let withheld = try conversation("> SPEED:1", "", "> SPEED:2", "OK", "SPEED:2")
        #expect((withheld.answered, withheld.lost, withheld.isAnswered) == (1, 1, true))
        let half = try conversation("> SPEED:1", "OK", "", "> SPEED:2", "OK", "SPEED:2")
        #expect((half.answered, half.lost, half.isAnswered) == (1, 1, true))
        let tail = try conversation("> WHAT", Self.away, Self.back, "9m}", "> SPEED:2", "OK", "SPEED:2")
        #expect((tail.answered, tail.lost, tail.isAnswered) == (1, 1, true))
    }
}
