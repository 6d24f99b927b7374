import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("Recording links", .timeLimit(.minutes(5)))
struct RecordingLinkTests {
    private let entries = Watched<[RecordingLink.Entry]>([])

    private func record(_ link: any Link) -> RecordingLink {
        RecordingLink(link) { [entries] entry in entries.update { $0.append(entry) } }
    }

    private static func received(_ text: String) -> RecordingLink.Entry { .event(kind: "received", text: text) }
    private static func sent(_ text: String) -> RecordingLink.Entry { .event(kind: "sent", text: text) }

    @Test("Each line is recorded however it was split, the rest on close")
    func lines() async throws {
        let bare = ScriptedLink(backlog: ["on", "e\r\ntwo\nthr"])
        let link = record(bare)
        _ = try await link.receive()
        _ = try await link.receiveAvailable()
        #expect(entries.state == [Self.received("one"), Self.received("two")])
        try await link.send(Array("GET_LOG\n".utf8))
        try await link.send(Array("half".utf8))
        await link.close()
        await link.close()
        #expect(entries.state[2...] == [Self.sent("GET_LOG"), Self.received("thr"), Self.sent("half")])
    }

    @Test("A packet is recorded as one entry, even without a line end")
    func packets() async throws {
        let link = record(ScriptedLink(backlog: ["a\nb", "LIVE LOG: 1"], keepsPacketBounds: true))
        for _ in 0..<2 { _ = try await link.receive() }
        try await link.send(Array("GET_LOG".utf8))
        #expect(entries.state == [Self.received("a\nb"), Self.received("LIVE LOG: 1"), Self.sent("GET_LOG")])
        await link.close()
    }

    @Test("Forwarded input and synchronous sends are recorded")
    func listener() async throws {
        let bare = EventLink(Watched<[String]>([]), takesAtOnce: true)
        let sending = record(bare)
        let isSent = try await Task(executorPreference: EventLoop.shared) {
            try sending.sendAtOnce(Array("OFF\n".utf8))
        }.value
        #expect(isSent)
        #expect(entries.state == [Self.sent("OFF")])

        let scripted = ScriptedLink()
        let link = record(scripted)
        await link.forward { _ in }
        await scripted.deliver("OK\r\nPUMP")
        #expect(entries.state == [Self.sent("OFF"), Self.received("OK")])
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await scripted.end(with: gone)
        #expect(entries.state[2...] == [Self.received("PUMP"), .lost(gone)])
    }

    @Test("The bytes of a send that fails are recorded, because part of them may have gone out, and then the loss")
    func failure() async throws {
        let scripted = ScriptedLink(takesAtOnce: true)
        let link = record(scripted)
        let gone = LinkError(.disconnected, name: "scripted", activity: "send")
        scripted.failSends(with: gone)
        await #expect(throws: gone) { try await link.send(Array("ON\n".utf8)) }
        await #expect(throws: gone) {
            try await Task(executorPreference: EventLoop.shared) { try link.sendAtOnce(Array("OFF\n".utf8)) }.value
        }
        #expect(entries.state == [Self.sent("ON"), .lost(gone), Self.sent("OFF"), .lost(gone)])
    }

    /// A link whose reply arrives before `send` returns.
    private final class HastyLink: LinkWrapper {
        let link: any Link = ScriptedLink()
        private let receiver = Watched<(@Sendable (LinkArrival) -> Void)?>(nil)

        func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
            self.receiver.update { $0 = receiver }
        }

        func send(_ bytes: [UInt8]) async throws(LinkError) { receiver.state?(.bytes(Array("OK\r\n".utf8))) }
    }

    @Test("A command is recorded before its reply, however fast that is")
    func order() async throws {
        let link = record(HastyLink())
        await link.forward { _ in }
        try await link.send(Array("STATUS\n".utf8))
        #expect(entries.state == [Self.sent("STATUS"), Self.received("OK")])
    }

    @Test("A line that is not UTF-8 is recorded as a whole in hexadecimal")
    func noText() async throws {
        let link = record(ScriptedLink())
        try await link.send([0x00, 0x41, 0xFF, 0x0A, 0x5C, 0x1B, 0x0A])
        #expect(entries.state == [.event(kind: "sent_hex", text: "0041ff"), Self.sent("\\\u{1B}")])
    }
}
