/// A reason why a simulated device can't be made from the given options.
public struct SimulatorOptionError: Error, Sendable, Hashable {
    /// A problem with an option.
    public enum Problem: Sendable, Hashable {
        /// The device has no option of that name. `known` lists the options that it has.
        case unknown(known: [String])
        /// The value is invalid. `takes` describes the accepted values.
        case invalid(takes: SimulatorOption.Value)
        /// A part of the value is invalid.
        case part(WrongPart)
        /// The option has a meaning only on this carrier.
        case only(SimulatorOption.Carrier)
        /// The option can't be combined with these options, of which at least one was given.
        case excludes([String])
        /// The fault of this name makes sense only on this carrier.
        case fault(String, only: SimulatorOption.Carrier)
        /// The fault makes no sense for the device.
        case senseless(SenselessFault)
        /// There are more faults than a device can have at once.
        case tooManyFaults(most: Int)
        /// The device can't perform a step of the scenario.
        case step(DeviceVerbError)
        /// The value needs a pseudo-terminal: the baud rate and the flushes of a host are unknown on any other line.
        case onlyTerminal
        /// The fault `unplug` would bring the device back on another port, which no program could find.
        case noWayBack
    }

    /// The name of the option.
    public var option: String
    /// The problem with the option.
    public var problem: Problem

    /// Creates an error about an option.
    public init(_ option: String, _ problem: Problem) {
        self.option = option
        self.problem = problem
    }
}

extension SimulatorOptionError: CustomStringConvertible {
    public var description: String {
        switch problem {
        case .unknown(let known): "unknown option \(option); use: \(known.joined(separator: ", "))"
        case .invalid(let value): "\(option) takes \(value)"
        case .part(let wrong): "\(option) \(wrong)"
        case .only(let carrier): "\(option) needs \(carrier == .line ? "a line" : "BLE")"
        case .excludes(let others): "\(option) cannot be combined with \(others.joined(separator: " and "))"
        case .senseless(let fault): "the fault \(fault.name) makes no sense: \(fault.reason)"
        case .tooManyFaults(let most): "\(option) takes at most \(most) faults"
        case .step(let error): "\(option): \(error)"
        case .onlyTerminal: "\(option) has a part that needs a pseudo-terminal"
        case .noWayBack: "the fault unplug makes no sense: the device would return as a port that no program knows"
        case .fault(let name, .line): "the fault \(name) needs a line: BLE has no cable, and checks its packets"
        case .fault(let name, .radio): "the fault \(name) needs BLE: a line has no packets"
        }
    }

    /// The unknown word in the option's value that caused the error; nil for any other cause.
    public var unknownWord: UnknownWord? {
        switch problem {
        case .part(let wrong): if case .unknown(let word) = wrong.problem { word } else { nil }
        case .step(let error): error.unknownWord
        default: nil
        }
    }

    /// A suggested remedy; nil if the description already says what to do.
    public var hint: String? {
        switch problem {
        case .part(let wrong): wrong.hint
        case .step(let error): error.hint
        default: nil
        }
    }
}
