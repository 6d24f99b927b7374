extension FaultyDevice {
    public static var urgentCommands: [String] { Device.urgentCommands }

    static var faultVerb: String { "fault" }

    public static var verbs: [DeviceVerb<FaultyDevice>] {
        let verbs = Device.verbs.map { verb in
            DeviceVerb<FaultyDevice>(verb.name, verb.arguments, help: verb.help) {
                device, settings, now throws(DeviceVerbError) in
                try device.change(at: now) { device, now in
                    Result { () throws(DeviceVerbError) in try verb.perform(&device, settings, now) }
                }.get()
            }
        }
        return verbs + [
            DeviceVerb(
                faultVerb, [SimulatorOption("faults", .faults(), help: "Which, or none.")],
                help: "Take all faults away and have others, as --fault does."
            ) { device, settings, now throws(DeviceVerbError) in
                try device.checkFaults(settings)
                device.run(to: max(device.now, now))
                device.clearFaults()
                device.add(settings.faults("faults"))
            }
        ]
    }

    /// Refuses faults that make no sense for the device, or over its carrier.
    func checkFaults(_ settings: SimulatorSettings) throws(DeviceVerbError) {
        do throws(SimulatorOptionError) { try rules?.check(settings.text("faults") ?? "") } catch {
            throw .argument(error)
        }
    }

    public var observations: [String: ObservedValue] {
        var observations = device.observations
        if !faults.isEmpty {
            observations["faults"] = .text(faults.map(\.order.text).joined(separator: ","))
        }
        return observations
    }
}
