/// The control of a faulty device: that of the device itself, and the verb `fault`.
extension FaultyDevice {
    public static var urgentCommands: [String] { Device.urgentCommands }

    public static var commandFraming: CommandFraming { Device.commandFraming }

    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        Device.objection(to: command, isPacket: isPacket)
    }

    public static var isStream: Bool { Device.isStream }

    public static var verbs: [DeviceVerb<FaultyDevice>] {
        let verbs = Device.verbs.map { verb in
            DeviceVerb<FaultyDevice>(verb.name, verb.arguments, help: verb.help) {
                device, settings, now throws(DeviceVerbError) in
                try device.change(at: now) { device, now throws(DeviceVerbError) in
                    try verb.perform(&device, settings, now)
                }
            }
        }
        // The permitted faults depend on the device's carrier, so the device checks the text itself.
        let faults = SimulatorOption("faults", .text, help: "The faults, or none.")
        return verbs + [
            DeviceVerb("fault", [faults], help: "Replace all faults, as by drop@5%; none ends them.") {
                device, settings, now throws(DeviceVerbError) in
                try device.replaceFaults(by: settings.text(faults.name) ?? "", at: now)
            }
        ]
    }

    /// Parses a list of faults, and checks that this device can have them on its carrier.
    @discardableResult
    func checkFaults(_ text: String) throws(DeviceVerbError) -> (orders: [FaultOrder], own: String?) {
        do throws(SimulatorOptionError) { return try choice.faults(text) } catch { throw .argument(error) }
    }

    /// Replaces all faults, also the device's own fault, by a list as typed.
    private mutating func replaceFaults(by text: String, at instant: Duration) throws(DeviceVerbError) {
        let chosen = try checkFaults(text)
        run(to: max(now, instant))
        clearFaults()
        add(chosen.orders)
        if ownFault != chosen.own {
            ownFault = chosen.own
            change(at: now) { device, now in device.setOwnFault(chosen.own, at: now) }
        }
    }

    /// The observations of the device itself, and under `faults` the present faults as typed, if there are any.
    public var observations: [String: ObservedValue] {
        var observations = device.observations
        let names = [ownFault].compactMap { $0 } + faults.map(\.order.text)
        if !names.isEmpty { observations["faults"] = .text(names.joined(separator: ",")) }
        return observations
    }
}
