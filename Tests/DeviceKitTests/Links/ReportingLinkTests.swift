import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("Reporting links", .timeLimit(.minutes(5)))
struct ReportingLinkTests {
    let clock = ManualClock()
    /// The events in order: `sent …` and `closed` of the wrapped link, `looked` for a long search for other users of
    /// the device, and `glanced` for a brief one.
    let events = Watched<[String]>([])

    private func link(_ bare: any Link, looks: Bool = true, afterSending: Bool = false) -> ReportingLink {
        let look: ReportingLink.LookAround = { [events] in tell($0 ? "looked" : "glanced", events) }
        return ReportingLink(
            bare, clock: clock, lookAround: looks ? look : nil, looksAfterSending: afterSending
        ) { [events] in tell("\($0)", events) }
    }

    @Test("After the first bytes are sent, the link looks once for other users", arguments: [false, true])
    func looksAfterSending(atOnce: Bool) async throws {
        let link = link(EventLink(events, takesAtOnce: atOnce), afterSending: true)
        #expect(events.state.isEmpty)
        for text in ["OFF\n", "STATUS\n"] {
            let bytes = Array(text.utf8)
            try await Task(executorPreference: EventLoop.shared) {
                if try !link.sendAtOnce(bytes) { try await link.send(bytes) }
            }.value
        }
        await settle()
        // The second line may be sent before the search has run.
        #expect(events.state.first == "sent OFF")
        #expect(events.state.filter { $0 == "looked" }.count == 1)
        await link.close()
        clock.advance(by: ReportingLink.patience)
        await settle()
        #expect(events.state.filter { $0 == "looked" }.count == 1)
    }

    @Test("A failed send triggers no look for other users, and neither does the close of a link that it showed as lost")
    func sendingFails() async throws {
        for (code, events) in [(LinkError.Code.disconnected, [String]()), (.unsupported, ["glanced"])] {
            let bare = ScriptedLink()
            bare.failSends(with: LinkError(code, name: "scripted", activity: "send"))
            let link = link(bare, afterSending: true)
            await #expect(throws: LinkError.self) { try await link.send([1]) }
            await settle()
            #expect(self.events.state.isEmpty)
            await link.close()
            #expect(self.events.state == events)
        }
    }

    @Test("Without a send, the link looks for other users after a while")
    func looksWithoutSending() async throws {
        let link = link(ScriptedLink())
        await clock.untilSomebodySleeps(until: ReportingLink.patience)
        clock.advance(by: ReportingLink.patience - .milliseconds(1))
        await settle()
        #expect(events.state.isEmpty)
        clock.advance(by: .milliseconds(1))
        _ = try await events.wait(for: "a look around") { $0 == ["looked"] ? true : nil }
        try await link.send([1])
        await settle()
        #expect(events.state == ["looked"])
        await link.close()
    }

    @Test("A link that closes early only takes a brief look, and its timer ends")
    func closed() async throws {
        let link = link(EventLink(events, takesAtOnce: true))
        await clock.untilSomebodySleeps(until: ReportingLink.patience)
        #expect(try link.sendAtOnce(Array("OFF\n".utf8)))
        await settle()
        #expect(events.state == ["sent OFF"])
        await link.close()
        await link.close()
        await settle()
        #expect(clock.deadlines.isEmpty)
        clock.advance(by: .seconds(10))
        await settle()
        #expect(events.state == ["sent OFF", "glanced", "closed", "closed"])
    }

    @Test("A session with a lost or odd reply looks for other users on close")
    func doubt() async throws {
        let healthy = "STATUS:{State:OFF,WaterTemp:12.0C}\r\n"
        let cases = [
            (healthy, "glanced"), ("", "looked"), ("ERROR:UNKNOWN_COMMAND\r\n", "looked"),
            ("TUS:{State:OFF,WaterTemp:12.0C}\r\n" + healthy, "looked"),
        ]
        for (answer, outcome) in cases {
            events.update { $0 = [] }
            let link = link(ScriptedLink(answer: { _ in answer }))
            let pump = try await PumpSession.begin(over: TracedLink(link) { _ in }, clock: ContinuousClock())
            // In real time: 60 s never pass, because the status comes at once; without a status STATUS ends after 1 ms.
            _ = try? await pump.perform(.status, timeout: answer.hasSuffix(healthy) ? .seconds(60) : .milliseconds(1))
            await settle()
            #expect(events.state.isEmpty)
            await pump.close()
            #expect(events.state == [outcome], "\(answer)")
        }
    }

    @Test("A lost link is not inspected, as it may be reopened for OFF")
    func lostInDoubt() async throws {
        let bare = ScriptedLink(answer: { _ in "?\r\n" })
        let pump = try await PumpSession.begin(over: link(bare), clock: clock)
        let stop = Task { try await pump.turnOff() }
        #expect(await bare.nextSent() == "\nOFF\n")
        await bare.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        await #expect(throws: SessionError.self) { try await stop.value }
        await pump.close()
        #expect(events.state == [])
    }

    @Test("A restarted ESP32 is reported with its cause, unless opening the port reset it")
    func restart() async throws {
        let boot = "ets Jul 29 2019 12:21:46\r\n\r\nrst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13\r\nentry 0x40\r\n"
        for (mayHaveReset, mayRestart, sends) in [
            (false, true, false), (true, true, true), (true, true, false), (false, false, true),
        ] {
            let bare = ScriptedLink(mayHaveReset: mayHaveReset)
            let told = Watched<[ReportingLink.Discovery]>([])
            let link = ReportingLink(bare, clock: clock, mayRestart: mayRestart) { discovery in
                told.update { $0.append(discovery) }
            }
            await link.forward { _ in }
            if sends { try await link.send(Array("LED:1\n".utf8)) }
            for piece in [boot.prefix(30), boot.dropFirst(30)] { await bare.deliver(String(piece)) }
            // Once something was sent, a reset no longer counts as that of the opening.
            let isTold = mayRestart && (!mayHaveReset || sends)
            let reset = try #require(ESP32Reset(line: Array("rst:0xf (RTCWDT_BROWN_OUT_RESET)".utf8)))
            #expect(told.state == (isTold ? [.restart(reset)] : []))
            await link.close()
        }
    }

    @Test("The link's remark is reported once on close, also through a trace")
    func remark() async throws {
        let told = Watched<[ReportingLink.Discovery]>([])
        let bare = EventLink(events, remark: "it is a Telnet server")
        let link = ReportingLink(bare, clock: clock) { discovery in told.update { $0.append(discovery) } }
        let traced = TracedLink(link) { _ in }
        #expect(traced.remark == "it is a Telnet server")
        #expect(told.state.isEmpty)
        await traced.close()
        await traced.close()
        #expect(told.state == [.remark("it is a Telnet server")])
    }

    @Test("Wrappers pass synchronous sends on, and a trace does not delay them")
    func sendsAtOnce() async throws {
        let bare = EventLink(events, takesAtOnce: true)
        try await Task(executorPreference: EventLoop.shared) {
            let link = link(bare, looks: false)
            #expect(try link.sendAtOnce(Array("OFF\n".utf8)))
            let traced = TracedLink(link) { [events] entry in
                if case .sends(let bytes) = entry {
                    tell("shown " + String(decoding: bytes.dropLast(), as: UTF8.self), events)
                }
            }
            #expect(try traced.sendAtOnce(Array("OFF\n".utf8)))
            try await traced.send(Array("ON\n".utf8))
        }.value
        #expect(events.state == ["sent OFF", "sent OFF", "shown OFF", "shown ON", "sent ON"])
    }
}

private func tell(_ event: String, _ events: Watched<[String]>) { events.update { $0.append(event) } }

/// A link that notes the sent lines and its closing as events.
final class EventLink: Link {
    let name = "event"
    let remark: String?
    var keepsPacketBounds: Bool { false }
    var maximumWriteLength: Int? { nil }
    var executor: any SerialExecutor & TaskExecutor { EventLoop.shared }

    private let events: Watched<[String]>
    private let takesAtOnce: Bool

    init(_ events: Watched<[String]>, takesAtOnce: Bool = false, remark: String? = nil) {
        self.events = events
        self.takesAtOnce = takesAtOnce
        self.remark = remark
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        let text = String(decoding: bytes, as: UTF8.self)
        tell("sent " + text.dropLast(), events)
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        guard takesAtOnce else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        tell("sent " + text.dropLast(), events)
        return true
    }

    func receive() async throws(LinkError) -> [UInt8]? { nil }
    func receiveAvailable() async throws(LinkError) -> [UInt8] { [] }
    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {}
    func close() async { tell("closed", events) }
}
