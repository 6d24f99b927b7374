import FirmwareSim
import LineProtocol
import PeripheralSim
import Testing

/// The matrix over BLE, on a fake bluetoothd with a manual clock. The MTU of an HM-10 is 23. That of the storm sensor
/// is so small that its log takes several packets.
@Suite("Hosts and faulty devices over BLE", .timeLimit(.minutes(60)))
struct RadioFaultTests {
    @Test("Every step with a faulty pump over BLE has an outcome that the oracle accepts") func pump() async throws {
        let world = try await RadioWorld()
        try await FaultMatrix.check(.pump, over: .radio, PumpFaultScript.self) { settings, seed in
            let module = HM10Module(Overheard.warmingPump, lineRate: .unlimited)
            return try await world.run(PumpFaultScript.self, module, settings, seed: seed, mtu: 23) {
                PumpFaultScript.Truth($0.device)
            }
        }
        await world.stop()
    }

    @Test("Every step with a faulty storm sensor over BLE has an outcome that the oracle accepts") func storm()
        async throws
    {
        let world = try await RadioWorld()
        try await FaultMatrix.check(.storm, over: .radio, StormFaultScript.self) { settings, seed in
            let sensor = StormPeripheral(options: .matrix(seed))
            return try await world.run(StormFaultScript.self, sensor, settings, seed: seed, mtu: 100) {
                StormFaultScript.Truth(log: $0.log, rowCount: $0.rowCount)
            }
        }
        await world.stop()
    }

    @Test("Every step with a faulty LED board over BLE has an outcome that the oracle accepts") func led() async throws
    {
        let world = try await RadioWorld()
        try await FaultMatrix.check(.led, over: .radio, LEDFaultScript.self) { settings, seed in
            let board = LEDPeripheral(notifies: seed % 4 != 0)
            return try await world.run(LEDFaultScript.self, board, settings, seed: seed, mtu: 185) { $0.isLit }
        }
        await world.stop()
    }

    @Test("Every step with a faulty peer over BLE has an outcome that the oracle accepts") func peer() async throws {
        let world = try await RadioWorld()
        let own = PeerFaultScript.ownFaults
        try await FaultMatrix.check(.peer, over: .radio, PeerFaultScript.self, own: own) { settings, seed in
            var peer = PeerPeripheral()
            peer.device = .matrix(settings, seed, over: .notifications)
            return try await world.run(PeerFaultScript.self, Overheard(peer), settings, seed: seed, mtu: 185) {
                PeerFaultScript.Truth($0.device.device, said: $0.said)
            }
        }
        await world.stop()
    }

    @Test("Every step with a faulty rescue phone over BLE has an outcome that the oracle accepts") func rescue()
        async throws
    {
        let world = try await RadioWorld()
        let own = RescueFaultScript.ownFaults
        try await FaultMatrix.check(.rescue, over: .radio, RescueFaultScript.self, own: own) { settings, seed in
            let phone = RescuePeripheral(.matrix(settings, seed, over: .notifications))
            return try await world.run(RescueFaultScript.self, phone, settings, seed: seed, mtu: 185) {
                RescueFaultScript.Truth($0.device)
            }
        }
        await world.stop()
    }
}
