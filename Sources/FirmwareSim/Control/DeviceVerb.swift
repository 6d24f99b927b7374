/// What a person or the world does to a device that runs, as a row: press its button, warm its probe.
///
/// ```swift
/// DeviceVerb("turn", [SimulatorOption("position", .decimal(0...1), help: "…")], help: "Turn the knob.") {
///     $0.setPotentiometer(Int(($1.decimal("position") ?? 0) * 1023))
/// }
/// ```
public struct DeviceVerb<Device>: Sendable {
    /// What it is called, in lower case, as `press`.
    public let name: String
    /// What it takes, in this order. All of it has to be given.
    public let arguments: [SimulatorOption]
    /// What it does, as a sentence.
    public let help: String

    package let perform: @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void

    /// - Parameter perform: Does it, at that instant; the values are such as the arguments take. Where it throws, it has done
    ///   nothing.
    public init(
        _ name: String, _ arguments: [SimulatorOption] = [], help: String,
        perform: @escaping @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void
    ) {
        self.name = name
        self.arguments = arguments
        self.help = help
        self.perform = perform
    }

    /// What was given to it, checked.
    package func settings(_ given: [String]) throws(DeviceVerbError) -> SimulatorSettings {
        try SimulatorSettings(given, as: arguments, of: name)
    }
}

extension SimulatorSettings {
    /// What was given to a verb, in the order of its arguments.
    init(_ given: [String], as arguments: [SimulatorOption], of verb: String) throws(DeviceVerbError) {
        let names = arguments.map(\.name)
        guard given.count == names.count else { throw .argumentCount(of: verb, names: names) }
        let values = Dictionary(uniqueKeysWithValues: zip(names, given))
        do throws(SimulatorOptionError) { try self.init(arguments, values, over: nil) } catch {
            throw .argument(error)
        }
    }
}

/// Something that can be seen of a simulated device.
public enum ObservedValue: Sendable, Hashable {
    case text(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
}

/// Why something was not done to a simulated device.
public enum DeviceVerbError: Error, Sendable, Hashable {
    /// There is no such verb, but these.
    case unknown(String, known: [String])
    /// The verb takes other arguments: these, by their names.
    case argumentCount(of: String, names: [String])
    /// An argument takes another value.
    indirect case argument(SimulatorOptionError)
    /// The device has no such option that can be changed while it runs, but these.
    case unknownOption(String, known: [String])
    /// It could not be done, for that reason; and what to do about it.
    case failed(String, hint: String)
}

extension DeviceVerbError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let verb, _): "the device has no verb '\(verb)'"
        case .argumentCount(let verb, let names) where names.isEmpty: "'\(verb)' takes no argument"
        case .argumentCount(let verb, let names): "'\(verb)' takes \(names.joined(separator: " "))"
        case .argument(let error): "\(error)"
        case .unknownOption(let name, _): "'\(name)' is no option that can be changed while the device runs"
        case .failed(let reason, _): reason
        }
    }

    /// What to do about it; nil where the description says that.
    public var hint: String? {
        switch self {
        case .unknown(_, let known), .unknownOption(_, let known): "use one of: \(known.joined(separator: ", "))"
        case .failed(_, let hint): hint
        case .argumentCount, .argument: nil
        }
    }
}
