import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct PeerDialogueTests {
    private let clock = ManualClock()

    /// Meets the peer and switches it on; the error, if there is one.
    private func talk(over link: ScriptedLink) -> Task<SessionError?, Never> {
        Task { [clock] in
            var dialogue = PeerDialogue(over: link, clock: clock, timeout: .seconds(4))
            do throws(SessionError) {
                try await dialogue.meet()
                try await dialogue.say(.toggle(true))
                return nil
            } catch {
                return error
            }
        }
    }

    private func pass(to deadline: Duration) async {
        await clock.untilSomebodySleeps(until: deadline)
        clock.advance(by: deadline - clock.now.offset)
    }

    @Test(arguments: [false, true])
    func `What is said stands between two that are acknowledged`(keepsPacketBounds: Bool) async {
        let end = keepsPacketBounds ? "" : "\n"
        let link = ScriptedLink(keepsPacketBounds: keepsPacketBounds)
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\(end)")
        await link.deliver("HELLO from a @ b\(end)")
        await link.deliver("Hello ack\(end)")
        #expect(await link.nextSent(2) == ["ON\(end)", "Hello\(end)"])
        await link.deliver("good morning\(end)")
        await link.deliver("Hello ack\(end)")
        #expect(await result.value == nil)
        #expect(link.unreadSent.isEmpty)
    }

    @Test func `A peer that does not answer Hello is asked twice, and told nothing`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await pass(to: .seconds(2))
        #expect(await link.nextSent() == "Hello\n")
        await pass(to: .seconds(4))
        let error = SessionError(.noAnswer, command: "Hello", outcome: .nothingChanged, waited: .seconds(4))
        #expect(await result.value == error)
        #expect(link.unreadSent.isEmpty)
    }

    @Test func `A second acknowledgement of a repeated Hello confirms nothing`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await pass(to: .seconds(2))
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("Hello ack\n")
        await clock.untilSomebodySleeps(until: .milliseconds(2100))
        clock.advance(by: .milliseconds(50))
        await link.deliver("Hello ack\n")
        await pass(to: .milliseconds(2150))
        #expect(await link.nextSent(2) == ["ON\n", "Hello\n"])
        await pass(to: .milliseconds(6150))
        let error = SessionError(.noAnswer, command: "ON", outcome: .unknown, waited: .seconds(4))
        #expect(await result.value == error)
    }

    @Test func `A device of another kind is not understood`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("ERROR:UNKNOWN_COMMAND\r\n")
        await pass(to: .seconds(2))
        await pass(to: .seconds(4))
        let error = await result.value
        #expect(error?.code == .notUnderstood)
        #expect(error?.foreignLine == Array("ERROR:UNKNOWN_COMMAND".utf8))
    }

    @Test func `A board that may have been reset is waited for`() async {
        let link = ScriptedLink(mayHaveReset: true)
        let result = talk(over: link)
        for second in 1...5 {
            #expect(await link.nextSent() == "Hello\n")
            await pass(to: .seconds(second))
        }
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("Hello ack\n")
        await pass(to: .milliseconds(5100))
        #expect(await link.nextSent(2) == ["ON\n", "Hello\n"])
        await link.deliver("Hello ack\n")
        #expect(await result.value == nil)
    }

    @Test func `A line that somebody began is ended first`() async {
        let link = ScriptedLink(mayBeMidLine: true)
        let result = talk(over: link)
        #expect(await link.nextSent(2) == ["\n", "Hello\n"])
        await link.end(with: nil)
        #expect(await result.value?.code == .closed)
    }

    @Test func `A link that breaks behind the command leaves it unknown`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("Hello ack\n")
        #expect(await link.nextSent(2) == ["ON\n", "Hello\n"])
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await link.end(with: gone)
        #expect(await result.value == SessionError(.linkLost, command: "ON", outcome: .unknown, link: gone))
    }

    @Test func `A cancelled dialogue says so`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await clock.untilSomebodySleeps(until: .seconds(2))
        result.cancel()
        #expect(await result.value?.code == .cancelled)
    }
}
