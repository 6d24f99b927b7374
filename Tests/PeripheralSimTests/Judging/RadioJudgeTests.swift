import BlueZ
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport
import Testing

@Suite("Judging a host over BLE", .timeLimit(.minutes(3)))
struct RadioJudgeTests {
    private static func judge(_ rules: String, _ device: some SimulatedPeripheral) throws -> HostJudge? {
        HostJudge(try PeripheralSimulator.pump.settings(["expect": rules]), of: device)
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("Only a subscribed host has to react to a notification")
    func subscriptions() async throws {
        let pump = HM10Module(PumpFirmware())
        try await withRadioBench(pump, judge: Self.judge("reaction=1s@line:MANUAL", pump)) { bench in
            await bench.host.change { $0.device.pressButton(at: $1) }
            await bench.host.advance(by: .seconds(9))
            #expect(await bench.host.verdict()?.findings == [])
            try await bench.central.subscribe("FFE1")
            await bench.host.change { $0.device.pressButton(at: $1) }
            await bench.host.advance(by: .seconds(9))
            #expect(await bench.host.verdict()?.count == 1)
        }
    }

    @Test("Behind an HM-10 commands and lines may be split over packets")
    func pieces() throws {
        var judge = try #require(
            try Self.judge("one-in-flight,reaction=1s/OFF@line:ERROR:OVERHEAT", HM10Module(PumpFirmware())))
        judge.hear(Self.bytes("ON\n"), at: .zero, isAnswering: false, isPacket: true)
        judge.say(Self.bytes("OK\r\nPUMP:ON\r\nERROR:O"), at: .zero, isPacket: true)
        judge.say(Self.bytes("VERHEAT\r\n"), at: .zero, isPacket: true)
        #expect(judge.verdict(at: .zero).untested == ["one-in-flight"])
        judge.hear(Self.bytes("\nO"), at: .zero, isAnswering: true, isPacket: true)
        judge.hear(Self.bytes("FF\n"), at: .zero, isAnswering: true, isPacket: true)
        #expect(judge.verdict(at: .seconds(9)).count == 0)
    }

    @Test("If a device's protocol has no line ends, each write counts as one command")
    func whole() throws {
        var judge = try #require(try Self.judge("one-in-flight", PeerPeripheral()))
        judge.hear(Self.bytes("Hello\nthere"), at: .zero, isAnswering: false, isPacket: true)
        #expect(judge.verdict(at: .zero).count == 0)
    }
}
