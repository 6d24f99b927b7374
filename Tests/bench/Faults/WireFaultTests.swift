import FirmwareSim
import LineProtocol
import TestSupport
import Testing

/// Hosts of all families on a wire with a faulty device or line, in simulated time. See `Tests/bench/README.md`.
@Suite("Hosts and faulty devices on a wire", .timeLimit(.minutes(60)))
struct WireFaultTests {
    @Test("Every step with a faulty pump has an outcome that the oracle accepts") func pump() async throws {
        try await FaultMatrix.check(.pump, over: .line, PumpFaultScript.self) { settings, seed in
            try await run(PumpFaultScript.self, .warmingPump, settings, seed) {
                PumpFaultScript.Truth($0)
            }
        }
    }

    @Test("Every step with a faulty storm sensor has an outcome that the oracle accepts") func storm() async throws {
        try await FaultMatrix.check(.storm, over: .line, StormFaultScript.self) { settings, seed in
            try await run(StormFaultScript.self, StormFirmware(options: .matrix(seed)), settings, seed) {
                StormFaultScript.Truth(log: $0.log, rowCount: $0.rowCount)
            }
        }
    }

    @Test("Every step with a faulty LED board has an outcome that the oracle accepts") func led() async throws {
        try await FaultMatrix.check(.led, over: .line, LEDFaultScript.self) { settings, seed in
            // The protocol leaves open whether the board replies to a change.
            let board = LEDFirmware(lineRate: .unlimited, answersSets: seed % 4 != 0)
            return try await run(LEDFaultScript.self, board, settings, seed) { $0.isLit }
        }
    }

    @Test("Every step with a faulty peer has an outcome that the oracle accepts") func peer() async throws {
        let own = PeerFaultScript.ownFaults
        try await FaultMatrix.check(.peer, over: .line, PeerFaultScript.self, own: own) { settings, seed in
            let peer = Overheard(PeerFirmware.matrix(settings, seed, over: .line(.unlimited)))
            return try await run(PeerFaultScript.self, peer, settings, seed) {
                PeerFaultScript.Truth($0.device, said: $0.said)
            }
        }
    }

    @Test("Every step with a faulty rescue phone has an outcome that the oracle accepts") func rescue() async throws {
        let own = RescueFaultScript.ownFaults
        try await FaultMatrix.check(.rescue, over: .line, RescueFaultScript.self, own: own) { settings, seed in
            let phone = RescueFirmware(options: .matrix(settings, seed, over: .line(.unlimited)))
            return try await run(RescueFaultScript.self, phone, settings, seed) { RescueFaultScript.Truth($0) }
        }
    }

    private func run<Script: FaultScript, Device: SimulatedDevice>(
        _ script: Script.Type, _ device: Device, _ settings: SimulatorSettings, _ seed: UInt64,
        truth: @escaping @Sendable (Device) -> Script.Truth
    ) async throws -> [Outcome]? {
        // With the fault `baud`, the host's baud rate differs from the device's.
        let hostRate = settings.text("fault") == "baud" ? 115_200 : nil
        return try await onThread {
            try WireWorld(device, faults: settings.faults(), seed: seed, hostRate: hostRate)
                .run(script, seed: seed, truth: truth)
        }
    }
}
