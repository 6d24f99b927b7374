import CaptureFormat
import DescriptorIO
import DeviceKit
import DeviceTestKit
import Dispatch
import LineProtocol
import TestSupport
import Testing

@Suite("Captured links", .timeLimit(.minutes(5)))
struct CapturingLinkTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()

    private func capture() throws -> Capture { try .new(at: folder.path("capture"), clock: clock) }

    /// Waits until everything is written; returns the events of the file.
    private func written(_ capture: Capture) async throws -> Captured {
        await capture.finish()
        return try Captured(folder.path("capture"))
    }

    @Test("Each chunk is captured with its time and the lines that it completes")
    func pieces() async throws {
        let bare = ScriptedLink()
        let capture = try capture()
        let link = capture.captured(bare)
        await link.forward { _ in }
        clock.advance(by: .microseconds(1_500_001))
        try await link.send(Array("STATUS\n".utf8))
        for piece in ["O", "K\r\nPUMP:", "ON\r\n"] { await bare.deliver(piece) }
        await bare.deliver([[0xFF, 0x0A]])
        await link.close()
        await link.close()
        let events = try await written(capture).events
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

    @Test("On a packet carrier each packet is one chunk and one line")
    func packets() async throws {
        let bare = ScriptedLink(backlog: ["a\nb", "LIVE LOG: 1"], keepsPacketBounds: true)
        let capture = try capture()
        let link = capture.captured(bare)
        for _ in 0..<2 { _ = try await link.receive() }
        #expect(try await written(capture).received.map(\.lines) == [["a\nb"], ["LIVE LOG: 1"]])
    }

    @Test("OFF is sent before it is captured, and captured before its reply")
    func off() async throws {
        let bare = ScriptedLink(takesAtOnce: true) { _ in "OK\r\nPUMP:OFF\r\n" }
        let capture = try capture()
        let link = capture.captured(bare)
        await link.forward { _ in }
        let isSent = try await Task(executorPreference: EventLoop.shared) {
            try link.sendAtOnce(Array("OFF\n".utf8))
        }.value
        #expect(isSent)
        await bare.end(with: LinkError(.disconnected, name: "scripted", activity: "receive", detail: "unplugged"))
        #expect(
            try await written(capture).wire == [
                .sent(.init(Array("OFF\n".utf8), lines: ["OFF"])),
                .received(.init(Array("OK\r\nPUMP:OFF\r\n".utf8), lines: ["OK", "PUMP:OFF"])),
                .ended(code: "disconnected", detail: "unplugged"),
            ])
    }

    @Test("Successive links have different numbers")
    func links() async throws {
        let capture = try capture()
        for _ in 0..<3 { await capture.captured(ScriptedLink()).close() }
        #expect(try await written(capture).events.map(\.link) == [1, 1, 2, 2, 3, 3])
    }

    @Test("A hanging disk delays no command, and all events are written afterwards")
    func hangingDisk() async throws {
        let (disk, written) = (DispatchSemaphore(value: 0), Watched<[CaptureEvent.Content]>([]))
        let capture = Capture(at: "hanging", clock: clock, tell: { Issue.record("\($0)") }) { event in
            disk.wait()
            written.update { $0.append(event.content) }
        }
        let bare = ScriptedLink()
        let link = capture.captured(bare)
        for _ in 0..<3 { try await link.send(Array("OFF\n".utf8)) }
        #expect(await bare.nextSent(3) == ["OFF\n", "OFF\n", "OFF\n"])
        #expect(written.state.isEmpty)
        for _ in 0..<4 { disk.signal() }
        await capture.finish()
        #expect(
            written.state.dropFirst()
                == Array(repeating: .sent(.init(Array("OFF\n".utf8), lines: ["OFF"])), count: 3)[...])
    }

    @Test("A disk that is too slow ends the capture, with one error")
    func slowDisk() async throws {
        let (disk, told) = (DispatchSemaphore(value: 0), Watched<[CaptureError]>([]))
        let written = Watched(0)
        let capture = Capture(at: "slow", clock: clock, tell: { error in told.update { $0.append(error) } }) { _ in
            disk.wait()
            written.update { $0 += 1 }
        }
        let link = capture.captured(ScriptedLink())
        // 20 MiB, more than the 16 MiB that may wait for the disk.
        let bytes = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 0..<20 { try await link.send(bytes) }
        #expect(told.state.map(\.code) == [.system] && told.state.map(\.path) == ["slow"])
        // One for each event that may wait: the opening and 20 sends, with some to spare.
        for _ in 0..<40 { disk.signal() }
        await capture.finish()
        // The capture has ended, also when the disk can write again.
        let count = written.state
        try await link.send(bytes)
        await capture.finish()
        #expect(written.state == count && told.state.count == 1)
    }

    @Test("A hanging folder delays no command, and all events are written once the file is open")
    func hangingFolder() async throws {
        let (folder, written) = (DispatchSemaphore(value: 0), Watched<[CaptureEvent.Content]>([]))
        let capture = Capture(at: "hanging", clock: clock, tell: { Issue.record("\($0)") }) {
            () throws(CaptureError) in
            folder.wait()
            return { event in written.update { $0.append(event.content) } }
        }
        let bare = ScriptedLink()
        let link = capture.captured(bare)
        try await link.send(Array("OFF\n".utf8))
        #expect(await bare.nextSent() == "OFF\n")
        #expect(written.state.isEmpty)
        async let isWritten = capture.finish(within: .seconds(2))
        await clock.untilSomebodySleeps(until: .seconds(2))
        clock.advance(by: .seconds(2))
        #expect(await !isWritten)
        folder.signal()
        try await capture.opened()
        await capture.finish()
        #expect(written.state.dropFirst() == [.sent(.init(Array("OFF\n".utf8), lines: ["OFF"]))])
    }

    @Test("A file that cannot be opened is reported once, and the link stays open")
    func unopened() async throws {
        let told = Watched<[CaptureError]>([])
        let path = folder.write("mine", to: "capture")
        let capture = Capture(
            openingAt: path, by: "test", of: .pump, clock: clock,
            onFailedOpening: { error in told.update { $0.append(error) } }, tell: { Issue.record("\($0)") })
        let bare = ScriptedLink()
        let link = capture.captured(bare)
        try await link.send(Array("OFF\n".utf8))
        #expect(await bare.nextSent() == "OFF\n")
        await capture.finish()
        #expect(told.state.map(\.code) == [.exists])
        for _ in 0..<2 {
            let error = await #expect(throws: CaptureError.self) { try await capture.opened() }
            #expect(error?.code == .exists)
        }
        try await link.send(Array("STATUS\n".utf8))
        await capture.finish()
        #expect(TextFile.contents(of: path) == "mine")
    }

    @Test("The header comes first in a file that is opened on another thread")
    func openedElsewhere() async throws {
        let capture = Capture(
            openingAt: folder.path("capture"), by: "test", of: .pump, clock: clock, tell: { Issue.record("\($0)") })
        let link = capture.captured(ScriptedLink())
        try await capture.opened()
        try await link.send(Array("STATUS\n".utf8))
        #expect(try await written(capture).wire == [.sent(.init(Array("STATUS\n".utf8), lines: ["STATUS"]))])
    }
}
