import DescriptorIO
import DeviceTestKit
import FirmwareSim
import TestSupport
import Testing

@Suite(
    "Unsolicited lines", .timeLimit(.minutes(3)))
struct UnaskedLineTests {
    /// A pump at 9600 baud with a judged host at the far end of its line. Time advances on demand only.
    private struct Bench {
        let host: DeviceHost<PumpFirmware>
        let far: DescriptorChannel
        let line: DeviceHost<PumpFirmware>.LineID
        let running: Task<Void, any Error>

        init(_ rules: String, isListening: Bool = true) async throws {
            let expectations = try Simulator.pump.settings(["expect": rules]).expectations()
            let options = PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5))
            host = DeviceHost(
                PumpFirmware(options: options), pace: .realTime(HostClock()),
                judge: HostJudge(expectations, urgent: PumpFirmware.urgentCommands))
            let near: DescriptorChannel
            (far, near) = try DescriptorChannel.pair(on: .shared)
            line = await host.attach(near, isListening: isListening)
            running = Task { [host] in try await host.run() }
            await settle()
        }

        func say(_ text: String) async throws {
            try await far.write(Array(text.utf8))
            await settle()
        }

        /// Presses the button, and advances until a part of the resulting line has left: about 3 of its bytes, which
        /// take 1 ms each.
        func pressUntilHalfIsOut() async {
            await host.change { $0.pressButton(at: $1) }
            while await host.change({ pump, _ in pump.isQuiescent }) { await host.advance(by: .milliseconds(1)) }
            await host.advance(by: .milliseconds(3))
            #expect(await host.change { pump, _ in !pump.isQuiescent })
        }

        func end() async -> Verdict? {
            let verdict = await host.verdict()
            await far.close()
            running.cancel()
            return verdict
        }
    }

    @Test("A command during an unsolicited line is not early")
    func commandInUnaskedLine() async throws {
        let bench = try await Bench("one-in-flight")
        try await bench.say("ON\n")
        await bench.host.advance(by: .seconds(2))
        await bench.pressUntilHalfIsOut()
        try await bench.say("TEMP\n")
        await bench.host.advance(by: .seconds(2))
        #expect(await bench.end()?.findings == [])
    }

    @Test("A command before the previous reply is early, even if an unsolicited line is being sent")
    func early() async throws {
        let bench = try await Bench("one-in-flight")
        await bench.pressUntilHalfIsOut()
        try await bench.say("TEMP\n")
        await bench.host.advance(by: .milliseconds(50))
        try await bench.say("STATUS\n")
        #expect(await bench.end()?.findings.map(\.detail) == ["STATUS was sent before the last reply had ended"])
    }

    @Test("A command may follow a bare line end at once")
    func bareLineEnd() async throws {
        let bench = try await Bench("one-in-flight")
        try await bench.say("\r\n")
        await bench.host.advance(by: .milliseconds(1))
        try await bench.say("TEMP\n")
        await bench.host.advance(by: .seconds(2))
        #expect(await bench.end()?.findings == [])
    }

    @Test("A line that no host receives requires no reaction")
    func unheard() async throws {
        let bench = try await Bench("reaction=1s@line:MANUAL", isListening: false)
        await bench.pressUntilHalfIsOut()
        await bench.host.advance(by: .seconds(9))
        #expect(await bench.host.verdict()?.findings == [])
        await bench.host.setListening(true, bench.line)
        await bench.pressUntilHalfIsOut()
        await bench.host.advance(by: .seconds(9))
        #expect(await bench.end()?.count == 1)
    }
}
