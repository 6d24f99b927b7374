import FirmwareSim
import Synchronization
import TestSupport
import Testing

@Suite("Failing scenario steps", .timeLimit(.minutes(5)))
struct StepFailureTests {
    @Test("A failing step is reported at its time, and the verdict is not passed")
    func failure() async throws {
        let settings = try Simulator.peer.settings([
            "step": "2s set image /no/such file.png\n3s set chunk 20", "expect": "pacing=1ms",
        ])
        let peer = PeerFirmware(options: try PeerFirmwareOptions(settings: settings))
        let host = DeviceHost(
            try FaultyDevice(peer, settings), pace: .onDemand, judge: HostJudge(settings, of: peer))
        let failures = Watched<[StepFailure]>([])
        host.handle.onStepFailure { failure in failures.update { $0.append(failure) } }
        await host.advance(by: .seconds(5))
        #expect(failures.state.map(\.step) == ["2s set image /no/such file.png"])
        #expect(failures.state.map(\.time) == [.seconds(2)])
        let verdict = try #require(await host.verdict())
        let finding = try #require(verdict.findings.first)
        #expect(verdict.count == 1 && finding.expectation == "step")
        #expect(finding.detail.hasPrefix("the step '2s set image /no/such file.png' failed: "))
        // The steps that work are carried out.
        #expect(await host.change { peer, _ in peer.device.options.chunkLength } == 20)
    }
}
