/// Why a simulated device can't be made by options that were given.
public struct SimulatorOptionError: Error, Sendable, Hashable {
    /// What is wrong with an option.
    public enum Problem: Sendable, Hashable {
        /// The device has no option of that name, but these.
        case unknown(known: [String])
        /// The option takes another value.
        case invalid(takes: SimulatorOption.Value)
        /// A part of the value is none.
        case part(WrongPart)
        /// The option means something over this carrier only.
        case only(SimulatorOption.Carrier)
        /// The option goes without these, of which one was given too.
        case excludes([String])
        /// The fault of this name means something over this carrier only.
        case fault(String, only: SimulatorOption.Carrier)
        /// The fault makes no sense for the device.
        case senseless(SenselessFault)
        /// There are more faults than a device can have at once.
        case tooManyFaults(most: Int)
        /// What is done to the device in the course of a scenario can't be done to it.
        case step(DeviceVerbError)
        /// It can be seen on a pseudo-terminal only: of another line's baud rate and flushes nothing is known.
        case onlyTerminal
        /// The fault `unplug` would have the device come back as another port that nobody is told of.
        case noWayBack
    }

    /// The name of the option.
    public var option: String
    /// What is wrong with it.
    public var problem: Problem

    /// An error of that option.
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
        case .only(let carrier): "\(option) means something over \(carrier == .line ? "a line" : "BLE") only"
        case .excludes(let others): "\(option) cannot be combined with \(others.joined(separator: " and "))"
        case .senseless(let fault): "the fault \(fault.name) makes no sense: \(fault.reason)"
        case .tooManyFaults(let most): "\(option) takes \(most) faults at most"
        case .step(let error): "\(option): \(error)"
        case .onlyTerminal: "\(option) has something that is seen on a pseudo-terminal only"
        case .noWayBack: "the fault unplug makes no sense: the device would come back as a port that nobody is told of"
        case .fault(let name, .line): "the fault \(name) means something over a line only: BLE checks its packets"
        case .fault(let name, .radio): "the fault \(name) means something over BLE only: a line has no packets"
        }
    }

    /// The word that names nothing, where that is what is wrong.
    public var unknownWord: UnknownWord? {
        switch problem {
        case .part(let wrong): if case .unknown(let word) = wrong.problem { word } else { nil }
        case .step(let error): error.unknownWord
        default: nil
        }
    }

    /// What to do about it; nil where the description says that.
    public var hint: String? {
        switch problem {
        case .part(let wrong): wrong.hint
        case .step(let error): error.hint
        default: nil
        }
    }
}
