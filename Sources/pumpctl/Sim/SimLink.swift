import ArgumentParser
import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import Transports

/// `sim:FAMILY`: a simulated device inside this program, for trying things out. It lasts as long as its link.
enum SimLink {
    static func open(_ endpoint: Endpoint, _ loop: EventLoop) async throws(LinkError) -> any Link {
        guard let simulator = Self.simulator(named: endpoint.address) else {
            let names = SimCommand.simulations.map { "sim:" + ($0.configuration.commandName ?? "") }
            throw endpoint.invalid("name one of: " + names.joined(separator: ", "))
        }
        try endpoint.allowOptions(Set(simulator.options.filter { $0.carrier != .radio }.map(\.name)))
        do {
            let settings = try simulator.settings(endpoint.options)
            return DescriptorLink(try await simulator.connect(settings, on: loop), name: endpoint.text)
        } catch let error as SimulatorOptionError {
            throw error.hint(on: endpoint)
        } catch let error as PeerImageFileError {
            throw endpoint.invalid("\(error): \(error.hint)")
        } catch {
            throw LinkError(.system, name: endpoint.text, activity: "open", detail: "\(error)")
        }
    }

    private static func simulator(named name: String) -> Simulator? {
        SimCommand.simulations.first { $0.configuration.commandName == name }?.row.line
    }
}
