import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("Traced links", .timeLimit(.minutes(5)))
struct TracedLinkTests {
    private static let off = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    @Test("A traced link has all properties of its link")
    func facts() async throws {
        let bare = OddLink()
        let link = TracedLink(bare) { _ in }
        #expect(link.name == bare.name)
        #expect(link.keepsPacketBounds == bare.keepsPacketBounds)
        #expect(link.maximumWriteLength == bare.maximumWriteLength)
        #expect(link.deviceAddress == bare.deviceAddress)
        #expect(link.isDeviceAddressStable == bare.isDeviceAddressStable)
        #expect(link.deviceID == bare.deviceID)
        #expect(link.sharedAddress == bare.sharedAddress)
        #expect(link.openingNote == bare.openingNote)
        #expect(link.remark == bare.remark)
        #expect(link.silenceHint == bare.silenceHint)
        #expect(link.mayHaveReset == bare.mayHaveReset)
        #expect(link.mayBeMidLine == bare.mayBeMidLine)
        #expect(link.executor === bare.executor)
        #expect(await link.packetCapacity() == 61)
        #expect(await link.signalStrength() == -70)
        #expect(try await link.receiveAvailable() == [7])
        #expect(try await link.receive() == [8])
        #expect(try link.sendAtOnce([1]))
        await #expect(throws: OddLink.failure) { try await link.send([1]) }
        await #expect(throws: OddLink.failure) { try await link.sendBreak(for: .zero) }
        await #expect(throws: OddLink.failure) { try await link.confirmConnection() }
        let arrivals = Watched<[[UInt8]]>([])
        await link.forward { arrival in
            if case .bytes(let bytes) = arrival { arrivals.update { $0.append(bytes) } }
        }
        #expect(arrivals.state == [[9]])
        link.noteDoubt()
        await link.close()
        #expect(bare.calls.state == ["noteDoubt", "close"])
    }

    @Test("A session behaves the same over a traced link", arguments: [false, true], [false, true])
    func session(takesAtOnce: Bool, isLost: Bool) async throws {
        let plain = try await transcript(takesAtOnce: takesAtOnce, isLost: isLost) { $0 }
        let shown = Watched<[TracedLink.Entry]>([])
        let traced = try await transcript(takesAtOnce: takesAtOnce, isLost: isLost) { link in
            TracedLink(link) { entry in shown.update { $0.append(entry) } }
        }
        #expect(plain == traced)
        // Each line is shown once, and the reply after its command.
        let lines = shown.state.compactMap { entry -> String? in
            switch entry {
            case .sends(let bytes): "> " + String(decoding: bytes, as: UTF8.self)
            case .received(let bytes): "< " + String(decoding: bytes, as: UTF8.self)
            default: nil
            }
        }
        #expect(lines.prefix(3) == ["> \nON\n", "< OK", "< PUMP:ON"])
        #expect(shown.state.count { if case .ended = $0 { true } else { false } } == 1)
    }

    @Test("The trace shows NULs around a line")
    func nuls() async throws {
        let (bare, shown) = (ScriptedLink(), Watched<[TracedLink.Entry]>([]))
        let link = TracedLink(bare) { entry in shown.update { $0.append(entry) } }
        await bare.deliver("OK\r\n\0PUMP:ON\r\n\0")
        _ = try await link.receive()
        #expect(shown.state == [.received(Array("OK".utf8)), .received(Array("\0PUMP:ON".utf8))])
    }

    /// Performs some pump commands over a link; returns the sent lines, the results, and the last state.
    ///
    /// - Parameters:
    ///   - isLost: Whether the link is lost during the last command; if false, this command times out.
    ///   - wrap: Returns the link for the session.
    private func transcript(
        takesAtOnce: Bool, isLost: Bool, _ wrap: (ScriptedLink) -> any Link
    ) async throws -> [String] {
        let clock = ManualClock()
        let lines = Watched<[String]>([])
        let bare = ScriptedLink(takesAtOnce: takesAtOnce) { sent in
            lines.update { $0.append("> \(sent)") }
            return switch sent {
            case "\nON\n": "OK\r\nPUMP:ON\r\n"
            case "\nSPEED:7\n": "ERROR:PUMP_NOT_RUNNING\r\n"
            case "\nOFF\n": "OK\r\nPUMP:OFF\r\n"
            case "TEMP\n": "TEMP:34.5\r\n"
            case "STATUS\n": Self.off
            default: nil
            }
        }
        let session = try await PumpSession.begin(over: wrap(bare), clock: clock)
        func perform(_ command: PumpCommand) -> Task<Void, Never> {
            Task.immediate(executorPreference: EventLoop.shared) {
                let result: Result<PumpReply, SessionError>
                do throws(SessionError) {
                    result = .success(try await session.perform(command, timeout: .seconds(3)))
                } catch {
                    result = .failure(error)
                }
                lines.update { $0.append("\(command): \(result)") }
            }
        }
        await perform(.on).value
        await perform(.speed(PumpSpeed(pwm: 7) ?? .initial)).value
        await perform(.status).value
        // Both commands are begun in one job of the loop. A trace must not change how many lines are sent in this job.
        await Task(executorPreference: EventLoop.shared) {
            let (on, off) = (perform(.on), perform(.off))
            lines.update { $0.append("\(bare.unreadSent.count) sent") }
            await on.value
            await off.value
        }.value
        bare.holdSends()
        let late = perform(.on)
        _ = try await lines.wait(for: "the last command") { lines in
            lines.count { $0 == "> \nON\n" } == 3 ? true : nil
        }
        if isLost {
            await bare.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        } else {
            clock.advance(by: .seconds(3))
        }
        await late.value
        let state = await session.state
        lines.update { $0.append("\(state)") }
        await session.close()
        return lines.state
    }
}

/// A link whose properties all differ from the usual ones.
private final class OddLink: Link {
    static let failure = LinkError(.unsupported, name: "odd", activity: "test")

    let name = "odd"
    let keepsPacketBounds = true
    let maximumWriteLength: Int? = 3
    let deviceAddress: String? = "00:00:5E:00:53:01"
    let isDeviceAddressStable = false
    let deviceID: String? = "tty-188-7"
    let sharedAddress: SharedDeviceAddress? = SharedDeviceAddress(socketPath: "/run/odd", name: "odd")
    let openingNote: String? = "guessed"
    let remark: String? = "a Telnet server"
    let silenceHint: String? = "pair with it"
    let mayHaveReset = true
    let mayBeMidLine = true
    let executor: any SerialExecutor & TaskExecutor = EventLoop.shared
    /// The calls without a result.
    let calls = Watched<[String]>([])

    func packetCapacity() async -> Int? { 61 }
    func signalStrength() async -> Int? { -70 }
    func send(_ bytes: [UInt8]) async throws(LinkError) { throw Self.failure }
    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool { true }
    func sendBreak(for duration: Duration) async throws(LinkError) { throw Self.failure }
    func receive() async throws(LinkError) -> [UInt8]? { [8] }
    func receiveAvailable() async throws(LinkError) -> [UInt8] { [7] }
    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async { receiver(.bytes([9])) }
    func confirmConnection() async throws(LinkError) { throw Self.failure }
    func noteDoubt() { calls.update { $0.append("noteDoubt") } }
    func close() async { calls.update { $0.append("close") } }
}
