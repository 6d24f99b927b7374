import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let rescue = FamilyRow(
        family: .rescue, noun: "rescue",
        commands: [RescueCommand.self], simulator: RescueSimulation.self)
}

enum RescueSimulation: Simulation {
    static let configuration = simulating(
        "rescue", "a simulated phone with the rescue app",
        " Over BLE, its messages wait until a central subscribes.", example: "--link ./phone --messages 20")
    static var row: PeripheralSimulator { .rescue }
}
