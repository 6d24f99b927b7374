import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// The times follow from the constants of ``PeerDialogue``. The dialogue waits 1500 ms for the first acknowledgement,
/// and repeats `Hello` after 750 ms; if the board may have been reset, it waits 8 s and repeats `Hello` every second.
/// On a link that keeps packet bounds, and after the peer's greeting, it waits 500 ms. After a repeated `Hello`, 100 ms
/// of silence end the wait for further acknowledgements.
@Suite(.timeLimit(.minutes(5))) struct PeerDialogueTests {
    private let clock = ManualClock()

    /// Greets the peer and sends `ON`; returns whether the peer acknowledged `ON`, or the error.
    private func talk(over link: ScriptedLink) -> Task<Result<Bool, SessionError>, Never> {
        Task { [clock] in
            var dialogue = PeerDialogue(over: link, clock: clock, timeout: .seconds(4))
            do throws(SessionError) {
                try await dialogue.meet()
                return .success(try await dialogue.say(.toggle(true)))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Waits until the dialogue sleeps until `deadline`, and advances the clock to it.
    private func pass(to deadline: Duration) async {
        await clock.untilSomebodySleeps(until: deadline)
        clock.advance(by: deadline - clock.now.offset)
    }

    @Test(arguments: [false, true])
    func `A message is sent between two acknowledged greetings`(keepsPacketBounds: Bool) async {
        let end = keepsPacketBounds ? "" : "\n"
        let link = ScriptedLink(keepsPacketBounds: keepsPacketBounds)
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\(end)")
        await link.deliver("HELLO from a @ b\(end)")
        await link.deliver("Hello ack\(end)")
        #expect(await link.nextSent(2) == ["ON\(end)", "Hello\(end)"])
        await link.deliver("good morning\(end)")
        await link.deliver("Hello ack\(end)")
        #expect(await result.value == .success(true))
        #expect(link.unreadSent.isEmpty)
    }

    @Test func `A silent peer is greeted twice and gets the message`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await pass(to: .milliseconds(750))
        #expect(await link.nextSent() == "Hello\n")
        await pass(to: .milliseconds(1500))
        #expect(await link.nextSent() == "ON\n")
        #expect(await result.value == .success(false))
        #expect(link.unreadSent.isEmpty)
    }

    @Test func `The published peer does not acknowledge and gets the message once`() async {
        let link = ScriptedLink(keepsPacketBounds: true)
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello")
        await link.deliver("HELLO from QDevice1 @ 2026-01-31T16:04:45Z")
        await pass(to: .milliseconds(500))
        #expect(await link.nextSent() == "ON")
        #expect(await result.value == .success(false))
        #expect(link.unreadSent.isEmpty)
    }

    @Test func `A peer that greets is not greeted again`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await clock.untilSomebodySleeps(until: .milliseconds(750))
        await link.deliver("HELLO from QDevice1 @ now\n")
        await pass(to: .milliseconds(500))
        #expect(await link.nextSent() == "ON\n")
        #expect(await result.value == .success(false))
    }

    @Test(arguments: [false, true])
    func `Two acknowledgements before the message confirm nothing`(keepsPacketBounds: Bool) async {
        let end = keepsPacketBounds ? "" : "\n"
        let link = ScriptedLink(keepsPacketBounds: keepsPacketBounds)
        // Both acknowledgements arrive before anyone listens.
        await link.deliver("Hello ack\(end)")
        await link.deliver("Hello ack\(end)")
        let result = talk(over: link)
        #expect(await link.nextSent(3) == ["Hello\(end)", "ON\(end)", "Hello\(end)"])
        await pass(to: .seconds(4))
        #expect(await result.value == .success(false))
    }

    @Test func `A second acknowledgement of a repeated Hello confirms nothing`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await pass(to: .milliseconds(750))
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("Hello ack\n")
        await clock.untilSomebodySleeps(until: .milliseconds(850))
        clock.advance(by: .milliseconds(50))
        await link.deliver("Hello ack\n")
        await pass(to: .milliseconds(900))
        #expect(await link.nextSent(2) == ["ON\n", "Hello\n"])
        await pass(to: .milliseconds(4900))
        #expect(await result.value == .success(false))
    }

    @Test(arguments: [
        "ERROR:UNKNOWN_COMMAND", "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}", "MANUAL:ON", "LED:0",
        "LIVE LOG: 1 1 1 500.3",
    ])
    func `A device of another family gets no message`(line: String) async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("\(line)\r\n")
        let error = SessionError(
            .notUnderstood, command: "Hello", outcome: .nothingChanged, foreignLine: Array(line.utf8))
        #expect(await result.value == .failure(error))
        #expect(link.unreadSent.isEmpty)
    }

    @Test func `Text from the peer's user does not count as another family`() async {
        let link = ScriptedLink(keepsPacketBounds: true)
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello")
        await link.deliver("good morning")
        await pass(to: .milliseconds(500))
        #expect(await link.nextSent() == "ON")
        #expect(await result.value == .success(false))
    }

    @Test func `A silent board that may have been reset gets the message after its boot time`() async {
        let link = ScriptedLink(mayHaveReset: true)
        let result = talk(over: link)
        for second in 1...8 {
            #expect(await link.nextSent() == "Hello\n")
            await pass(to: .seconds(second))
        }
        #expect(await link.nextSent() == "ON\n")
        #expect(await result.value == .success(false))
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
        #expect(await result.value == .success(true))
    }

    @Test func `A line end is sent first if the device may have received the beginning of a line`() async {
        let link = ScriptedLink(mayBeMidLine: true)
        let result = talk(over: link)
        #expect(await link.nextSent(2) == ["\n", "Hello\n"])
        await link.end(with: nil)
        #expect(await result.value.failure?.code == .closed)
    }

    @Test func `If the link breaks after the command, the outcome is unknown`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await link.deliver("Hello ack\n")
        #expect(await link.nextSent(2) == ["ON\n", "Hello\n"])
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await link.end(with: gone)
        let error = SessionError(.linkLost, command: "ON", outcome: .unknown, link: gone)
        #expect(await result.value == .failure(error))
    }

    @Test func `A cancelled dialogue fails with cancelled`() async {
        let link = ScriptedLink()
        let result = talk(over: link)
        #expect(await link.nextSent() == "Hello\n")
        await clock.untilSomebodySleeps(until: .milliseconds(750))
        result.cancel()
        #expect(await result.value.failure?.code == .cancelled)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
