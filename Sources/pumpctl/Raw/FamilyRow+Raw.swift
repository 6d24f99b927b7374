import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let raw = FamilyRow(family: .raw, noun: nil, commands: [], simulator: RawSimulation.self)
}

enum RawSimulation: Simulation {
    static let configuration = simulating(
        "raw", "a simulated device of no family",
        " Its script lists '>' and a line of the host (or the beginning of one and '*'), then '<' and each line of the "
            + "answer.",
        example: "--script grbl.script --link /tmp/grbl")
    static var row: PeripheralSimulator { .raw }
}
