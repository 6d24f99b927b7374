internal import SerialPort

/// A verb that a running device performs, described as data, so that a program can offer it to people.
///
/// ``DeviceHandle/perform(_:_:)`` takes the verb's name, and as arguments the option, if there is one, and the values of
/// ``arguments``.
public struct VerbOutline: Sendable, Hashable {
    /// The name, such as `press`.
    public var name: String
    /// The option that `set` changes; nil for other verbs.
    public var option: String?
    /// The arguments behind the option, in order. All are required.
    public var arguments: [SimulatorOption]
    /// A sentence that describes the action.
    public var help: String
    /// Values of a text to choose from; others are possible. Empty for most verbs.
    public var suggestions: [String] = []
}

/// A ``FaultyDevice`` of any device. A ``DeviceHost`` knows its device only as `Device`, and casts it to this protocol
/// to read the possible faults.
private protocol FaultChoosing {
    var choice: FaultChoice { get }
}

extension FaultyDevice: FaultChoosing {}

extension DeviceHost {
    /// The argument of the verb `advance`.
    static var time: SimulatorOption { SimulatorOption("time", .time(), help: "The time to let pass.") }

    /// Returns the verbs of the device, with one `set` for each option that can change.
    func outlines() -> [VerbOutline] {
        let own = Device.verbs.map { verb in
            let faults = verb.name == "fault" ? (device as? any FaultChoosing)?.choice.names : nil
            return VerbOutline(
                name: verb.name, arguments: verb.arguments, help: verb.help, suggestions: faults ?? [])
        }
        let common = [
            VerbOutline(name: "advance", arguments: [Self.time], help: "Let time pass at once."),
            VerbOutline(name: "reset", arguments: [], help: "Reset the board."),
        ]
        let settings = Device.settings.map(\.option).map {
            VerbOutline(name: "set", option: $0.name, arguments: [$0], help: $0.help)
        }
        return own + common + settings
    }

    /// The pseudo-terminal that a program has open to use the device; nil if there is none.
    var openTerminal: PseudoTerminalID? {
        lines.values.compactMap { $0.isCutOff ? nil : $0.terminal }.first { !$0.isClosed }?.id
    }
}

extension FaultChoice {
    /// The suggestions for the verb `fault`: `none`, and the name of each fault that the device can have.
    fileprivate var names: [String] {
        var own: [String] = []
        if case .faults(let names, _, _) = option.value { own = names }
        return (["none"] + SimulatorOption.Value.names(of: own)).filter { (try? faults($0)) != nil }
    }
}
