import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("The rows of simulated devices over BLE")
struct PeripheralSimulatorTests {
    @Test(
        "have the default names of their options, and the name that was given",
        arguments: [
            (PeripheralSimulator.pump, "HMSoft"), (.storm, "storm"), (.led, "ece196"), (.peer, "QDevice1"),
            (.rescue, "Rescue"), (.module, "HMSoft"),
        ])
    func names(simulator: PeripheralSimulator, name: String) throws {
        #expect(try simulator.peripheral(simulator.settings()).offered.name == name)
        #expect(try simulator.peripheral(simulator.settings(["name": "Bench"])).offered.name == "Bench")
    }

    @Test("An unpaced sensor pauses no more between the pieces of its log")
    func pauses() throws {
        let storm = PeripheralSimulator.storm
        let paced = try #require(try storm.peripheral(storm.settings()) as? StormPeripheral)
        #expect(paced.pause == StormPeripheral.defaultPause && paced.options.interval == .seconds(1))
        let unpaced = try #require(try storm.peripheral(storm.settings(["unpaced": "on"])) as? StormPeripheral)
        #expect(unpaced.pause == .zero)
    }

    @Test("refuse what means something on a line only")
    func refusals() {
        #expect(throws: SimulatorOptionError("baud", .only(.line))) {
            try PeripheralSimulator.led.settings(["baud": "9600"])
        }
    }
}
