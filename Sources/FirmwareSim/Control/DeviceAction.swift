/// An operation on a device at an instant of simulated time. If it throws, it has changed nothing.
typealias DeviceAction<Device> = @Sendable (inout Device, Duration) throws(DeviceVerbError) -> Void

extension SimulatedDevice {
    /// Returns the action for a verb of the device, for `reset`, or for `set`, which takes an option and its value.
    ///
    /// - Parameters:
    ///   - arguments: The arguments as typed, in the verb's order.
    ///   - known: The names of all verbs, for the error message.
    /// - Throws: ``DeviceVerbError`` if there is no such verb, or if the arguments don't fit it.
    static func action(
        _ verb: String, _ arguments: [String], known: [String]
    ) throws(DeviceVerbError) -> DeviceAction<Self> {
        if let row = verbs.first(where: { $0.name == verb }) {
            let values = try row.settings(arguments)
            return { device, now throws(DeviceVerbError) in try row.perform(&device, values, now) }
        }
        switch verb {
        case "reset":
            _ = try SimulatorSettings(arguments, as: [], of: verb)
            return { device, now in device.reset(at: now) }
        case "set" where !settings.isEmpty: return try setting(arguments)
        default: throw .unknown(verb, known: known)
        }
    }

    /// Returns the action of `set`. Its arguments are the name of an option and a value in the form used at the start.
    private static func setting(_ arguments: [String]) throws(DeviceVerbError) -> DeviceAction<Self> {
        guard arguments.count == 2 else { throw .argumentCount(of: "set", names: ["name", "value"]) }
        guard let row = settings.first(where: { $0.option.name == arguments[0] }) else {
            throw .unknownOption(arguments[0], known: settings.map(\.option.name))
        }
        let values = try SimulatorSettings([arguments[1]], as: [row.option], of: "set")
        return { device, now throws(DeviceVerbError) in try row.set(&device, values, now) }
    }
}
