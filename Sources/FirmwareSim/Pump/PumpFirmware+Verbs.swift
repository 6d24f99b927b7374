extension PumpFirmware {
    /// `OFF` may be sent at any moment, before the replies to earlier commands.
    public static var urgentCommands: [String] { ["OFF"] }

    public static var verbs: [DeviceVerb<PumpFirmware>] {
        let probe = SimulatorOption("probe", .choice(["water", "skin"]), help: "The probe.")
        return [
            DeviceVerb("press", help: "Press and release the button on the lid.") { pump, _, now in
                pump.pressButton(at: now)
            },
            DeviceVerb(
                "turn",
                [SimulatorOption("position", .decimal(0...1), help: "The position of the knob.")],
                help: "Turn the speed knob."
            ) { pump, values, _ in
                pump.setPotentiometer(Int(((values.decimal("position") ?? 0) * 1023).rounded()))
            },
            DeviceVerb(
                "temperature",
                [probe, SimulatorOption("celsius", .decimal(-55...150), help: "The temperature in °C.")],
                help: "Set a probe to a temperature, from which it drifts on."
            ) { pump, values, _ in
                let celsius = values.decimal("celsius") ?? 0
                if values.text("probe") == "skin" {
                    pump.setSkinTemperature(celsius)
                } else {
                    pump.setWaterTemperature(celsius)
                }
            },
            DeviceVerb(
                "probe",
                [
                    probe,
                    SimulatorOption("condition", .choice(["sound", "open", "shorted"]), help: "The new condition."),
                ],
                help: "Break or repair a probe."
            ) { pump, values, _ in
                let condition: ThermistorCondition =
                    switch values.text("condition") {
                    case "open": .open
                    case "shorted": .shorted
                    default: .sound
                    }
                if values.text("probe") == "skin" {
                    pump.setSkinThermistor(condition)
                } else {
                    pump.setWaterThermistor(condition)
                }
            },
        ]
    }

    public static var settings: [DeviceSetting<PumpFirmware>] {
        [DeviceSetting(knobOption) { pump, values, _ in pump.setPotentiometer(values.number("knob") ?? 512) }]
    }

    public var observations: [String: ObservedValue] {
        [
            "state": .text(state.rawValue.lowercased()), "duty": .integer(Int(duty)),
            "knob": .number(Double(controller.surroundings.potentiometer) / 1023),
            "water_temp_c": .number(heat.water), "skin_temp_c": .number(heat.skin),
            "power_led": .boolean(powerLED), "status_led": .boolean(statusLED), "booting": .boolean(isBooting),
        ]
    }
}
