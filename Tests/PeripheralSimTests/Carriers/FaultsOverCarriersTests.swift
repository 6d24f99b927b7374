import FirmwareSim
import PeripheralSim
import Testing

@Suite("Faults seen by a client", .timeLimit(.minutes(5)))
struct FaultsOverCarriersTests {
    private static var pump: PumpFirmware {
        PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5), potentiometer: 716))
    }

    /// Proves that the client has received nothing else: without the fault, its next input is the reply to OFF.
    private static let end: [Beat] = [
        .does("fault", "none"), .says("OFF\n"), .passes("1s"), .hears("OK\r\nPUMP:OFF\r\n"),
    ]

    @Test("A client on a pseudo-terminal sees each fault", arguments: FaultRow.rows(over: .terminal))
    func terminal(row: FaultRow) async throws {
        guard let faults = try orders(row, over: .line) else { return }
        let pump = FaultyDevice(Self.pump, faults: faults, seed: row.seed, lineRate: .baud(9600))
        try await CarriedDevice.onTerminal(pump, rate: row.clientRate) { try await $0.play(row.scene + Self.end) }
    }

    @Test("A central of the fake bluetoothd sees each fault", arguments: FaultRow.rows(over: .radio))
    func radio(row: FaultRow) async throws {
        guard let faults = try orders(row, over: .radio) else { return }
        let pump = FaultyDevice(HM10Module(Self.pump), faults: faults, seed: row.seed)
        try await CarriedDevice.onRadio(pump, SimulatedFamily.pump.profile) { try await $0.play(row.scene + Self.end) }
    }

    /// The row's fault; nil for a row with a refusal, which is then checked.
    private func orders(_ row: FaultRow, over carrier: SimulatorOption.Carrier) throws -> [FaultOrder]? {
        guard let refusal = row.refusal else {
            return try Simulator.pump.settings(["fault": row.order], over: carrier).faults()
        }
        let error = #expect(throws: SimulatorOptionError.self) {
            try Simulator.pump.settings(["fault": row.order], over: carrier)
        }
        #expect(error?.description == refusal)
        return nil
    }

    @Test("The table has a scene for each fault", arguments: Carrier.allCases)
    func complete(carrier: Carrier) {
        let names = FaultRow.rows(over: carrier).map(\.name)
        for name in Fault.all.map(\.name) where !names.contains(name) {
            Issue.record("FaultRow does not say what a client sees of the fault '\(name)' over the \(carrier)")
        }
        #expect(names == Fault.all.map(\.name))
    }

    /// The refusals whose reason is the kind of device, in the order of devices and faults.
    private static let refusals = [
        "led drift over a line: an LED board has no timed behaviour",
        "led drift over BLE: an LED board has no timed behaviour",
        "led split over BLE: a notification of one byte can't be split",
        "storm stuck over a line: a storm sensor has no error state",
        "storm stuck over BLE: a storm sensor has no error state",
        "peer stuck over a line: a peer has no error state; the fault read_failed fails each image",
        "peer stuck over BLE: a peer has no error state; the fault read_failed fails each image",
        "rescue stuck over a line: a phone has no error state",
        "rescue stuck over BLE: a phone has no error state",
        "rescue twice over a line: a phone answers nothing",
        "rescue twice over BLE: a phone answers nothing",
        "module stuck over a line: a BLE module has no error state",
        "module stuck over BLE: a BLE module has no error state",
    ]

    @Test("A device accepts each fault of its carrier or gives the reason")
    func senseless() {
        var refused: [String] = []
        for simulator in [Simulator.pump, .led, .storm, .peer, .rescue, .module] {
            for fault in Fault.all {
                for (carrier, name) in [(SimulatorOption.Carrier.line, "a line"), (.radio, "BLE")] {
                    guard let error = refusal(of: fault, by: simulator, over: carrier) else { continue }
                    if case .senseless(let row) = error.problem {
                        refused.append("\(simulator.name) \(fault.name) over \(name): \(row.reason)")
                    } else {
                        #expect(fault.carrier != nil && fault.carrier != carrier, "\(simulator.name): \(error)")
                    }
                }
            }
        }
        #expect(refused == Self.refusals)
    }

    /// The error with which a simulator refuses a fault; nil if it accepts the fault.
    private func refusal(
        of fault: Fault, by simulator: Simulator, over carrier: SimulatorOption.Carrier
    ) -> SimulatorOptionError? {
        do throws(SimulatorOptionError) { _ = try simulator.settings(["fault": fault.name], over: carrier) } catch {
            return error
        }
        return nil
    }
}
