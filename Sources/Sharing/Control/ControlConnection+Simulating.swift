internal import ControlProtocol
internal import DeviceKit
internal import StrictJSON
internal import Transports

/// An action on a simulated device that a program has requested.
struct SimulatorAction {
    var device: SharedDevice
    var verb: String
    var arguments: [String]
    /// The name of the program, as for a command: see ``ControlConnection/sender(_:)``.
    var sender: String
}

extension ControlConnection {
    /// Returns the members of the response to `simulator`: the verbs of a simulated device, and its visible state.
    func simulator(of device: SharedDevice) async throws(ControlFailure) -> [String: JSONValue] {
        var simulator = try await connection(to: device)
        let result: Result<JSONValue, ControlFailure>
        do throws(ControlFailure) { result = .success(try await simulator.perform("state")) } catch {
            result = .failure(error)
        }
        await simulator.close()
        return ["verbs": .array(simulator.verbs), "state": try result.get()]
    }

    /// Performs a verb on a simulated device, and returns the members of the response. Only verbs that the simulator
    /// describes are passed on: not the one that ends the simulator with all of its devices, and none that reads a
    /// file.
    func simulate(_ action: SimulatorAction) async throws(ControlFailure) -> [String: JSONValue] {
        var simulator = try await connection(to: action.device)
        let result: Result<JSONValue, ControlFailure>
        do throws(ControlFailure) {
            guard simulator.offers(action.verb, action.arguments) else {
                let names = Set(simulator.verbs.compactMap { $0["name"]?.text }).sorted()
                throw .usage(
                    "the simulator does not offer '\(action.verb)'",
                    hint: "use one of: " + names.joined(separator: ", "))
            }
            let words = ([action.verb] + action.arguments).joined(separator: " ")
            action.device.report(.simulates(words, for: action.sender))
            result = .success(try await simulator.perform(action.verb, action.arguments))
        } catch {
            result = .failure(error)
        }
        await simulator.close()
        return ["state": try result.get()]
    }

    /// Connects to the simulator of a device. Throws `no_simulator` if the device's open link does not lead to one.
    private func connection(to device: SharedDevice) async throws(ControlFailure) -> SimulatorConnection {
        let (name, endpoint) = (device.settings.name, device.settings.endpoint)
        // The path may lead to another device by now than when the link was opened.
        let linked = await device.watch.deviceID
        if endpoint.scheme == "serial", linked != nil, linked == DeviceID.serialPort(at: endpoint.address),
            let simulator = await SimulatorConnection.open(behind: endpoint.address, on: loop, clock: clock)
        {
            return simulator
        }
        throw ControlFailure(
            "no_simulator", "\(name) is no simulated device that can be controlled",
            hint: "for one that is: pumpctl sim \(device.settings.family.name) --link PATH --control PATH.control",
            outcome: "not_sent")
    }
}
