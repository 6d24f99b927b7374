import LineProtocol

/// An update as programs are told of it: every key is always there, and null where nothing is known.
struct MonitorRecord: Encodable {
    private let update: MonitorUpdate

    enum CodingKeys: String, CodingKey {
        case time, link, event, text, state, error
        case speedPercent = "speed_percent"
        case speedPWM = "speed_pwm"
        case water = "water_temp_c"
        case skin = "skin_temp_c"
        case single = "temp_c"
        case faults = "sensor_faults"
        case runtime = "runtime_min"
        case remaining = "remaining_min"
        case progress = "runtime_progress"
        case lastControl = "last_control"
        case safetyShutOff = "safety_shutoff"
    }

    init(_ update: MonitorUpdate) { self.update = update }

    func encode(to encoder: any Encoder) throws {
        let state = update.state
        let isKnown = state.power != .unknown
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(update.time.iso8601, forKey: .time)
        try container.encode(update.isLinkUp ? "up" : "lost", forKey: .link)
        try container.encode(update.event.rawValue, forKey: .event)
        try container.encode(update.text, forKey: .text)
        try container.encode(state.power.rawValue, forKey: .state)
        try container.encode(state.speedPercent, forKey: .speedPercent)
        try container.encode(state.speed.map { Int($0.pwm) }, forKey: .speedPWM)
        try container.encode(state.runtimeMinutes, forKey: .runtime)
        try container.encode(state.remainingMinutes, forKey: .remaining)
        try container.encode(state.runtimeProgress, forKey: .progress)
        try container.encode(state.lastControl?.rawValue, forKey: .lastControl)
        try container.encode(state.error?.rawValue, forKey: .error)
        try container.encode(isKnown ? state.isSafetyShutOff : nil, forKey: .safetyShutOff)
        var faults: [String] = []
        let temperatures = state.temperatures
        let readings = [
            (CodingKeys.water, temperatures.water), (.skin, temperatures.skin), (.single, temperatures.single),
        ]
        for (key, reading) in readings {
            let isPlausible = reading?.isPlausible ?? true
            try container.encode(isPlausible ? reading?.celsius : nil, forKey: key)
            if !isPlausible { faults.append(key.rawValue) }
        }
        try container.encode(faults, forKey: .faults)
    }
}
