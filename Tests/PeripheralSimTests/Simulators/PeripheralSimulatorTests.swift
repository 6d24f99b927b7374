import BlueZ
import DescriptorIO
import FirmwareSim
import PeripheralSim
import Testing

@Suite("Simulators of devices over BLE")
struct PeripheralSimulatorTests {
    @Test(
        "A device has its simulator's default name, or the given one",
        arguments: [
            (PeripheralSimulator.pump, "HMSoft"), (.storm, "storm"), (.led, "ece196"), (.peer, "QDevice1"),
            (.rescue, "Rescue"), (.module, "HMSoft"),
        ])
    func names(simulator: PeripheralSimulator, name: String) throws {
        #expect(try simulator.peripheral(simulator.settings()).offered.name == name)
        #expect(try simulator.peripheral(simulator.settings(["name": "Bench"])).offered.name == "Bench")
    }

    @Test("An unpaced sensor sends its log without pauses")
    func pauses() throws {
        let storm = PeripheralSimulator.storm
        let paced = try #require(try storm.peripheral(storm.settings()) as? StormPeripheral)
        #expect(paced.pause == StormPeripheral.defaultPause && paced.options.interval == .seconds(1))
        let unpaced = try #require(try storm.peripheral(storm.settings(["unpaced": "on"])) as? StormPeripheral)
        #expect(unpaced.pause == .zero)
    }

    @Test("A simulator over BLE and on a socket refuses an expectation that needs a pseudo-terminal")
    func withoutTerminal() async throws {
        let settings = try PeripheralSimulator.module.settings(["expect": "baud"])
        await #expect(throws: SimulatorOptionError("expect", .onlyTerminal)) {
            // No adapter has this name, so nothing is offered.
            try await PeripheralSimulator.module.serve(
                settings, at: .socket(.tcp(host: "127.0.0.1", port: 0)), onAdapter: "none", onEvent: { _ in },
                onServing: { _ in })
        }
    }

    @Test("A simulator over BLE refuses an option that is for lines only")
    func refusals() {
        #expect(throws: SimulatorOptionError("baud", .only(.line))) {
            try PeripheralSimulator.led.settings(["baud": "9600"])
        }
    }
}
