import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let storm = FamilyRow(
        family: .storm, noun: "storm",
        commands: [StormCommand.self], simulator: StormSimulation.self)
}

enum StormSimulation: Simulation {
    static let configuration = simulating(
        "storm", "a simulated storm sensor",
        " With --ble, a piece of its log is sent every 10 ms, as by an ESP32; with --unpaced, as fast as it is read.",
        example: "--link ./storm --rows 5000")
    static var row: PeripheralSimulator { .storm }
}
