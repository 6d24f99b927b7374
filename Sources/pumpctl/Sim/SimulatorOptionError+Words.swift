import FirmwareSim
import LineProtocol
import Transports

extension SimulatorOptionError {
    /// What is wrong with an option of `sim FAMILY`.
    var words: String {
        switch problem {
        case .unknown: "there is no option --\(option)"
        case .invalid(let value): "--\(option) takes \(value)"
        case .only(.radio): "--\(option) requires --ble"
        case .only(.line): "--ble cannot be combined with --\(option): there is no line"
        case .fault, .senseless: "\(self)"
        case .tooManyFaults: "--\(self)"
        case .step(let error): "--\(option): \(error)" + (error.hint.map { "; \($0)" } ?? "")
        case .onlyTerminal:
            "--\(option) has a rule or fault about baud rates or flushes, which only a pseudo-terminal shows"
        case .excludes(let others): "--\(option) cannot be combined with --\(others.joined(separator: " and --"))"
        }
    }

    /// What is wrong with an option of an endpoint that has no unknown ones.
    func hint(on endpoint: Endpoint) -> LinkError {
        switch problem {
        case .unknown, .only: endpoint.invalid("leave out '\(option)'")
        case .invalid(let value): endpoint.invalid("set \(option) to \(value)")
        case .fault(let name, _): endpoint.invalid("leave out the fault \(name): it means something over BLE only")
        case .senseless(let fault): endpoint.invalid("leave out the fault \(fault.name): \(fault.reason)")
        case .tooManyFaults(let most): endpoint.invalid("leave out faults: \(most) at most")
        case .step(let error): endpoint.invalid(error.hint ?? "\(error)")
        case .onlyTerminal: endpoint.invalid("leave out what only a pseudo-terminal shows: pumpctl sim … --pty")
        case .excludes(let others): endpoint.invalid("leave out \(option), or \(others.joined(separator: " and "))")
        }
    }
}
