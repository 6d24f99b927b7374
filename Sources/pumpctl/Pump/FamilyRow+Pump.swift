import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let pump = FamilyRow(
        family: .pump, noun: nil,
        commands: [OnCommand.self, OffCommand.self, SpeedCommand.self, StatusCommand.self, TempCommand.self],
        simulator: PumpSimulation.self)
}

enum PumpSimulation: Simulation {
    static let configuration = simulating("pump", "a simulated pump", example: "--link ./pump")
    static var row: PeripheralSimulator { .pump }
}
