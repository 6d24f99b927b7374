import CaptureFormat
import DescriptorIO
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Replayed captures", .timeLimit(.minutes(5)))
struct ReplayLinkTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()

    private func open(_ path: String, pace: String = "none") async throws -> any Link {
        try await ReplayOpener(clock: clock).open(Endpoint("replay:\(path)?pace=\(pace)"))
    }

    @Test("A replayed reply follows the commands recorded before it, however they are split")
    func order() async throws {
        let path = try folder.capture([
            (.zero, .received("HELLO\r\n")), (.zero, .sent("ON\n")), (.zero, .received("OK\r\n")),
            (.zero, .received("PUMP:ON\r\n")), (.zero, .sent("OFF\n")), (.zero, .received("OK\r\n")),
        ])
        let link = try await open(path)
        #expect(try await link.receive() == Array("HELLO\r\n".utf8))
        try await link.send(Array("O".utf8))
        #expect(try await link.receiveAvailable() == [])
        try await link.send(Array("N\nOF".utf8))
        var answer: [UInt8] = []
        while answer.count < 13 { answer += try #require(await link.receive()) }
        #expect(answer == Array("OK\r\nPUMP:ON\r\n".utf8))
        try await link.send(Array("F\n".utf8))
        #expect(try await link.receive() == Array("OK\r\n".utf8))
        await link.close()
        await link.close()
        #expect(link.remark == nil)
        #expect(try await link.receive() == nil)
    }

    @Test("At the original pace a reply takes as long as recorded, from the host's command on")
    func pace() async throws {
        let path = try folder.capture([(.seconds(5), .sent("STATUS\n")), (.seconds(7), .received("OK\r\n"))])
        let link = try await open(path, pace: "original")
        let arrived = Watched<[UInt8]>([])
        await link.forward { arrival in
            if case .bytes(let bytes) = arrival { arrived.update { $0 += bytes } }
        }
        clock.advance(by: .seconds(60))
        try await link.send(Array("STATUS\n".utf8))
        await clock.untilSomebodySleeps(until: .seconds(62))
        #expect(arrived.state == [])
        clock.advance(by: .seconds(2))
        _ = try await arrived.wait(for: "the answer") { $0 == Array("OK\r\n".utf8) ? true : nil }
        await link.close()
    }

    @Test("A lost link is lost again after the recorded input")
    func lost() async throws {
        let path = try folder.capture([
            (.zero, .received("OK\r\n")), (.zero, .ended(code: "disconnected", detail: "unplugged")),
        ])
        let link = try await open(path)
        #expect(try await link.receive() == Array("OK\r\n".utf8))
        let error = await #expect(throws: LinkError.self) { _ = try await link.receive() }
        #expect(error?.code == .disconnected)
        #expect(error?.detail == "unplugged")
        await #expect(throws: LinkError.self) { try await link.send([0x0A]) }
        await link.close()
    }

    @Test(
        "A host that sends something else gets the position and the expected bytes",
        arguments: [
            ("TEMP\n", "capture:3: expected \"STATUS\\n\", got \"TEMP\\n\""),
            ("STATUS\nON\n", "the end of "),
        ])
    func departs(sent: String, words: String) async throws {
        let link = try await open(try folder.capture([(.zero, .sent("STATUS\n"))]))
        try await link.send(Array(sent.utf8))
        let error = await #expect(throws: LinkError.self) { _ = try await link.receive() }
        #expect(error?.code == .disconnected)
        #expect(error?.detail?.contains(words) == true, "\(error?.detail ?? "")")
        await link.close()
    }

    @Test("On a packet carrier the host must send the recorded packets")
    func packets() async throws {
        let path = try folder.capture([(.zero, .sent("GET_LOG")), (.zero, .received("OK"))], keepsPacketBounds: true)
        let link = try await open(path)
        try await link.send(Array("GET".utf8))
        await #expect(throws: LinkError.self) { _ = try await link.receive() }
        let other = try await open(path)
        try await other.send(Array("GET_LOG".utf8))
        #expect(try await other.receive() == Array("OK".utf8))
        for link in [link, other] { await link.close() }
    }

    @Test("A recorded break is expected as a break")
    func breakCondition() async throws {
        let path = try folder.capture([(.zero, .breakSent(.seconds(1))), (.zero, .received("!"))])
        let link = try await open(path)
        try await link.sendBreak(for: .milliseconds(1))
        #expect(try await link.receive() == Array("!".utf8))
        let other = try await open(path)
        try await other.send([0x0A])
        let error = await #expect(throws: LinkError.self) { _ = try await other.receive() }
        #expect(error?.detail?.contains("expected a break, got \"\\n\"") == true, "\(error?.detail ?? "")")
        for link in [link, other] { await link.close() }
    }

    @Test("A host that closes early gets a remark with the missing command")
    func leavesEarly() async throws {
        let path = try folder.capture([(.zero, .sent("ON\n")), (.zero, .received("OK\r\n")), (.zero, .sent("OFF\n"))])
        let link = try await open(path)
        try await link.send(Array("ON\n".utf8))
        _ = try await link.receive()
        await link.close()
        #expect(link.remark?.contains("capture:5: expected \"OFF\\n\", got nothing") == true, "\(link.remark ?? "")")
    }

    @Test("Opening the file again replays its next link, until all are played")
    func nextLink() async throws {
        let file = try CaptureFile(at: folder.path("capture"), CaptureHeader(program: "test", family: "pump"))
        for number in 1...2 {
            let facts = CarrierFacts(endpoint: "x", name: "x")
            try file.append(CaptureEvent(at: .zero, link: number, .opened(facts)))
            try file.append(CaptureEvent(at: .zero, link: number, .received("\(number)")))
        }
        let opener = ReplayOpener(clock: clock)
        let endpoint = try Endpoint("replay:\(file.path)?pace=none")
        for number in 1...2 {
            let link = try await opener.open(endpoint)
            #expect(try await link.receive() == Array("\(number)".utf8))
            await link.close()
        }
        let error = await #expect(throws: LinkError.self) { _ = try await opener.open(endpoint) }
        #expect(error?.code == .notFound)
        #expect(error?.detail == "link 3 was opened, the capture has only 2")
    }

    @Test("Cancelling ends a receive, and so does closing the link")
    func cancelling() async throws {
        let link = try await open(try folder.capture([(.zero, .sent("ON\n"))]))
        let waiting = Task(executorPreference: EventLoop.shared) { try await link.receive() }
        await settle()
        waiting.cancel()
        await #expect(throws: LinkError.self) { _ = try await waiting.value }
        let other = Task(executorPreference: EventLoop.shared) { try await link.receive() }
        await settle()
        await link.close()
        #expect(try await other.value == nil)
        await #expect(throws: LinkError.self) { try await link.send([0x0A]) }
    }
}
