extension FaultyDevice {
    public static var urgentCommands: [String] { Device.urgentCommands }

    public static var isStream: Bool { Device.isStream }

    public static var verbs: [DeviceVerb<FaultyDevice>] {
        let verbs = Device.verbs.map { verb in
            DeviceVerb<FaultyDevice>(verb.name, verb.arguments, help: verb.help) { device, settings, now in
                device.change(at: now) { verb.perform(&$0, settings, $1) }
            }
        }
        return verbs + [
            DeviceVerb(
                "fault", [SimulatorOption("faults", .faults(), help: "Which, or none.")],
                help: "Take all faults away and have others, as --fault does."
            ) { device, settings, now in
                device.run(to: max(device.now, now))
                device.clearFaults()
                device.add(settings.faults("faults"))
            }
        ]
    }

    public var observations: [String: ObservedValue] {
        var observations = device.observations
        if !faults.isEmpty {
            observations["faults"] = .text(faults.map(\.order.text).joined(separator: ","))
        }
        return observations
    }
}
