/// What is done to a device at an instant. Where it throws, it has changed nothing.
typealias DeviceAction<Device> = @Sendable (inout Device, Duration) throws(DeviceVerbError) -> Void

extension SimulatedDevice {
    /// What is done to the device by one of its verbs, by `reset`, or by `set`, an option and its value.
    ///
    /// - Parameters:
    ///   - arguments: As they were typed, in the verb's order.
    ///   - known: All verbs that there are.
    /// - Throws: Where there is no such verb, or it takes other arguments.
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

    /// Changes an option: its name, and what it takes at the start too.
    private static func setting(_ arguments: [String]) throws(DeviceVerbError) -> DeviceAction<Self> {
        guard arguments.count == 2 else { throw .argumentCount(of: "set", names: ["name", "value"]) }
        guard let row = settings.first(where: { $0.option.name == arguments[0] }) else {
            throw .unknownOption(arguments[0], known: settings.map(\.option.name))
        }
        let values = try SimulatorSettings([arguments[1]], as: [row.option], of: "set")
        return { device, now throws(DeviceVerbError) in try row.set(&device, values, now) }
    }
}
