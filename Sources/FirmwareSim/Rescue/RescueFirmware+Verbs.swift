extension RescueFirmware {
    public static var verbs: [DeviceVerb<RescueFirmware>] {
        let categories = ["Road Closure", "Flooding", "Shelter", "Resource", "SOS", "Other"]
        return [
            DeviceVerb(
                "write",
                [
                    SimulatorOption("category", .choice(categories), help: "The category of the message."),
                    SimulatorOption("message", .text, help: "The message."),
                ],
                help: "Write a message on the phone, which sends it."
            ) { phone, values, now in
                phone.write(values.text("message") ?? "", category: values.text("category") ?? "Other", at: now)
            }
        ]
    }

    public static var settings: [DeviceSetting<RescueFirmware>] {
        [
            DeviceSetting(RescueFirmwareOptions.intervalOption) { phone, values, now in
                phone.setInterval(values.time("interval") ?? .zero, at: now)
            },
            DeviceSetting(RescueFirmwareOptions.splitOption) { phone, values, _ in
                phone.options.split = values.number("split")
            },
            DeviceSetting(RescueFirmwareOptions.malformedOption) { phone, values, _ in
                phone.options.malformed = values.number("malformed") ?? 0
            },
            DeviceSetting(RescueFirmwareOptions.hoardOption) { phone, values, _ in
                phone.options.forwards = !values.flag("hoard")
            },
        ]
    }

    public var observations: [String: ObservedValue] {
        [
            "sent": .integer(sentCount + writtenCount), "received": .integer(received.count),
            "waiting": .integer(waiting.count),
        ]
    }
}
