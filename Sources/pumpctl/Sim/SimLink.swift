import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import Transports

/// `sim:FAMILY`: a simulated device inside this program, for trying things out. It lasts as long as its link.
enum SimLink {
    static func open(_ endpoint: Endpoint, _ loop: EventLoop) async throws(LinkError) -> any Link {
        let (simulator, settings) = try device(endpoint)
        do {
            return DescriptorLink(try await simulator.line.connect(settings, on: loop), name: endpoint.text)
        } catch let error as PeerImageFileError {
            throw endpoint.invalid("\(error): \(error.hint)")
        } catch {
            throw LinkError(.system, name: endpoint.text, activity: "open", detail: "\(error)")
        }
    }

    /// The device that an endpoint names.
    static func device(_ endpoint: Endpoint) throws(LinkError) -> (PeripheralSimulator, SimulatorSettings) {
        guard let simulator = FamilyRow.named(endpoint.address)?.simulator.row else {
            throw endpoint.invalid("name one of: " + FamilyRow.all.map { "sim:\($0.family)" }.joined(separator: ", "))
        }
        let options = simulator.line.options.filter { $0.carrier != .radio }
        try endpoint.allowOptions(Set(options.map(\.name)))
        do throws(SimulatorOptionError) { return (simulator, try simulator.line.settings(endpoint.options)) } catch {
            throw error.hint(on: endpoint)
        }
    }
}
