import ArgumentParser
import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import SimControl
import Transports

/// `sim:FAMILY`: a simulated device inside this program, for trying things out. The device exists as long as its link.
enum SimLink {
    /// Starts the simulated device of an endpoint, and opens a link to it.
    ///
    /// - Parameter note: Prints a note for each step of the device's scenario that fails.
    static func open(
        _ endpoint: Endpoint, _ loop: EventLoop, note: @escaping @Sendable (String) -> Void
    ) async throws(LinkError) -> any Link {
        let (simulator, settings) = try device(endpoint)
        guard settings.expectations().isEmpty else {
            throw endpoint.invalid("leave out the scenario's rules for the program, which only 'pumpctl sim' checks")
        }
        do {
            let line = try await simulator.line.connect(settings, on: loop) { device in
                device.onStepFailure { note($0.note()) }
            }
            return DescriptorLink(line, name: endpoint.text)
        } catch let error as SimulatorOptionError {
            throw error.hint(on: endpoint)
        } catch let error as DeviceFileError {
            throw endpoint.invalid("\(error): \(error.hint)")
        } catch {
            throw LinkError(.system, name: endpoint.text, activity: "open", detail: "\(error)")
        }
    }

    /// Returns the device that an endpoint names, with its settings.
    static func device(_ endpoint: Endpoint) throws(LinkError) -> (PeripheralSimulator, SimulatorSettings) {
        let simulations = SimCommand.simulations
        guard let simulator = simulations.first(where: { $0.configuration.commandName == endpoint.address })?.row else {
            let names = simulations.map { "sim:" + ($0.configuration.commandName ?? "") }
            throw endpoint.invalid("name one of: " + names.joined(separator: ", "))
        }
        let options = simulator.line.options.filter { $0.carrier != .radio && $0.value != .expectations }
        try endpoint.allowOptions(Set(options.map(\.name)).union(["scenario"]))
        var given = endpoint.options
        if let path = given.removeValue(forKey: "scenario") {
            do throws(Failure) {
                let line = simulator.line
                given = try ScenarioFile.options(at: path, for: line.name, beside: given, of: options) {
                    option throws(SimulatorOptionError) in try line.check(option)
                }
            } catch {
                throw endpoint.invalid("\(error.message)" + (error.hint.map { "; \($0)" } ?? ""))
            }
        }
        do throws(SimulatorOptionError) { return (simulator, try simulator.line.settings(given)) } catch {
            throw error.hint(on: endpoint)
        }
    }
}

extension StepFailure {
    /// Returns the note to print, with a hint.
    ///
    /// - Parameter device: The device, such as `device 2: `; empty if there is only one.
    func note(of device: String = "") -> String {
        "pumpctl: \(device)\("\(self)".printable())" + (error.advice.map { "\n  hint: \($0.printable())" } ?? "")
    }
}
