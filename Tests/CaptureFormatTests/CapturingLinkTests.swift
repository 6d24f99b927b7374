import CaptureFormat
import DescriptorIO
import DeviceKit
import LineProtocol
import TestSupport
import Testing

@Suite("A link of which all is captured", .timeLimit(.minutes(1)))
struct CapturingLinkTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()

    private func capture() throws -> Capture { try .new(at: folder.path("capture"), clock: clock) }
    private func captured() throws -> Captured { try Captured(folder.path("capture")) }

    @Test("Each piece is noted as it came, with its time and the lines that it completes")
    func pieces() async throws {
        let bare = ScriptedLink()
        let link = try capture().captured(bare)
        await link.forward { _ in }
        clock.advance(by: .microseconds(1_500_001))
        try await link.send(Array("STATUS\n".utf8))
        for piece in ["O", "K\r\nPUMP:", "ON\r\n"] { await bare.deliver(piece) }
        await bare.deliver([[0xFF, 0x0A]])
        await link.close()
        await link.close()
        let events = try captured().events
        #expect(
            events.dropFirst().map(\.content) == [
                .sent(.init(Array("STATUS\n".utf8), lines: ["STATUS"])),
                .received(.init(Array("O".utf8))),
                .received(.init(Array("K\r\nPUMP:".utf8), lines: ["OK"])),
                .received(.init(Array("ON\r\n".utf8), lines: ["PUMP:ON"])),
                .received(.init([0xFF, 0x0A], lines: ["\u{FFFD}"])),
                .ended(code: nil, detail: nil),
            ])
        #expect(events.dropFirst().allSatisfy { $0.time == .microseconds(1_500_001) })
    }

    @Test("Where the carrier keeps packets each is one piece and one line")
    func packets() async throws {
        let bare = ScriptedLink(backlog: ["a\nb", "LIVE LOG: 1"], keepsPacketBounds: true)
        let link = try capture().captured(bare)
        for _ in 0..<2 { _ = try await link.receive() }
        #expect(try captured().received.map(\.lines) == [["a\nb"], ["LIVE LOG: 1"]])
    }

    @Test("OFF is out before it is noted, and before its answer is")
    func off() async throws {
        let bare = ScriptedLink(takesAtOnce: true) { _ in "OK\r\nPUMP:OFF\r\n" }
        let link = try capture().captured(bare)
        await link.forward { _ in }
        let isSent = try await Task(executorPreference: EventLoop.shared) {
            try link.sendAtOnce(Array("OFF\n".utf8))
        }.value
        #expect(isSent)
        await bare.end(with: LinkError(.disconnected, name: "scripted", activity: "receive", detail: "unplugged"))
        #expect(
            try captured().wire == [
                .sent(.init(Array("OFF\n".utf8), lines: ["OFF"])),
                .received(.init(Array("OK\r\nPUMP:OFF\r\n".utf8), lines: ["OK", "PUMP:OFF"])),
                .ended(code: "disconnected", detail: "unplugged"),
            ])
    }

    @Test("Links that are opened one after another are told apart")
    func links() async throws {
        let capture = try capture()
        for _ in 0..<3 { await capture.captured(ScriptedLink()).close() }
        #expect(try captured().events.map(\.link) == [1, 1, 2, 2, 3, 3])
    }
}
