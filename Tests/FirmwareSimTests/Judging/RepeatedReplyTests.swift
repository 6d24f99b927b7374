import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Testing

@Suite("Repeated replies", .timeLimit(.minutes(3)))
struct RepeatedReplyTests {
    private static var pump: PumpFirmware {
        PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5)))
    }

    /// The time at which the last byte of a pump's reply to TEMP has left, without a fault.
    private static var replyEnd: Duration {
        get throws {
            var pump = pump
            pump.receive(Array("TEMP\n".utf8), at: .zero)
            return try #require(pump.advance(to: .seconds(1)).last).time
        }
    }

    /// Returns the findings if STATUS arrives `early` before ``replyEnd``, on a clock that advances only on demand. A
    /// fault that repeats the reply sends no repetition before ``replyEnd``.
    private static func findings(_ fault: String, early: Duration) async throws -> [String] {
        let settings = try Simulator.pump.settings(["fault": fault, "expect": "one-in-flight"])
        let host = DeviceHost(
            try FaultyDevice(pump, settings), pace: .realTime(HostClock()), judge: HostJudge(settings, of: pump))
        let (far, near) = try DescriptorChannel.pair(on: .shared)
        await host.attach(near)
        let running = Task { try await host.run() }
        await settle()
        try await far.write(Array("TEMP\n".utf8))
        await settle()
        await host.advance(by: try replyEnd - early)
        try await far.write(Array("STATUS\n".utf8))
        await settle()
        let verdict = try #require(await host.verdict())
        await far.close()
        running.cancel()
        return verdict.findings.map(\.detail)
    }

    @Test(
        "A command may follow the reply even if a fault repeats the reply",
        arguments: ["none", "twice@always", "duplicate@always", "duplicate@always,twice@always"])
    func repeated(fault: String) async throws {
        // The CR has left, which completes the line; its LF is still being sent.
        #expect(try await Self.findings(fault, early: .microseconds(500)) == [])
    }

    @Test(
        "A command is early until the previous reply has ended",
        arguments: ["none", "twice@always", "duplicate@always"])
    func early(fault: String) async throws {
        #expect(
            try await Self.findings(fault, early: .milliseconds(5))
                == ["STATUS was sent before the last reply had ended"])
    }
}
