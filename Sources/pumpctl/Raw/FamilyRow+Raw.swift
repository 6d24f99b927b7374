import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let raw = FamilyRow(family: .raw, noun: nil, commands: [], simulator: RawSimulation.self)
}

enum RawSimulation: Simulation {
    static let configuration = simulating(
        "raw", "a simulated device of no family",
        " It answers as its script has it: '>' and a line of the host, or its beginning and '*', then '<' and each line of "
            + "the answer.",
        example: "--script grbl.script --link /tmp/grbl")
    static var row: PeripheralSimulator { .raw }
}
