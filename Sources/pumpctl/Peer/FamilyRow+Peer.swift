import DeviceKit
import PeripheralSim

extension FamilyRow {
    static let peer = FamilyRow(
        family: .peer, noun: "peer",
        commands: [PeerCommandGroup.self], simulator: PeerSimulation.self)
}

enum PeerSimulation: Simulation {
    static let configuration = simulating(
        "peer", "a simulated text and image peer",
        " It waits for a slow reader, and drops nothing. Its greeting contains its --name, also over a cable.",
        example: "--tcp 7000 --image photo.png")
    static var row: PeripheralSimulator { .peer }
}
