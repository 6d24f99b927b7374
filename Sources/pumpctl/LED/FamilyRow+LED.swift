import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let led = FamilyRow(
        family: .led, noun: "led", commands: [LEDCommandGroup.self], simulator: LEDSimulation.self)
}

enum LEDSimulation: Simulation {
    static let configuration = simulating("led", "a simulated LED board", example: "--ble --name ece196")
    static var row: PeripheralSimulator { .led }
}
