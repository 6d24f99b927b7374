import FirmwareSim
import LineProtocol
import SimControl
import Transports

extension SimulatorOptionError {
    /// The error in the words of `sim FAMILY`.
    var words: String {
        switch problem {
        case .unknown: "unknown option --\(option)"
        case .invalid(let value): "--\(option) takes \(value)"
        case .part: "--\(self)" + remedy
        case .only(.radio): "--\(option) needs --ble"
        case .only(.line): "--ble cannot be combined with --\(option): there is no line"
        case .fault, .senseless: "\(self)"
        case .tooManyFaults: "--\(self)"
        case .step(let error): "--\(option): \(error)" + remedy
        case .onlyTerminal:
            "--\(option) has a rule or fault about baud rates or flushes, which only a pseudo-terminal shows"
        case .noWayBack: "\(self)" + remedy
        case .excludes(let others): "--\(option) cannot be combined with --\(others.joined(separator: " and --"))"
        }
    }

    /// The advice, to be appended to the error.
    private var remedy: String { advice.map { "; \($0)" } ?? "" }

    /// Returns the error of an endpoint `sim:FAMILY?option=value`, whose hint says how to change the endpoint.
    func hint(on endpoint: Endpoint) -> LinkError {
        switch problem {
        case .unknown, .only: endpoint.invalid("leave out '\(option)'")
        case .invalid(let value): endpoint.invalid("set \(option) to \(value)")
        case .part(let wrong): endpoint.invalid(unknownWord.flatMap { _ in advice } ?? "\(wrong)" + remedy)
        case .fault(let name, _): endpoint.invalid("leave out the fault \(name): it has an effect only over BLE")
        case .senseless(let fault): endpoint.invalid("leave out the fault \(fault.name): \(fault.reason)")
        case .tooManyFaults(let most): endpoint.invalid("leave out faults: at most \(most) are allowed")
        case .step(.argument(let error)): error.hint(on: endpoint)
        case .step(let error): endpoint.invalid(advice ?? "\(error)")
        case .noWayBack: endpoint.invalid("leave out the fault unplug")
        case .onlyTerminal:
            endpoint.invalid("leave out rules and faults that need a pseudo-terminal; to use them: pumpctl sim … --pty")
        case .excludes(let others): endpoint.invalid("leave out \(option), or \(others.joined(separator: " and "))")
        }
    }
}
