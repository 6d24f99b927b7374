public import LineProtocol
public import RecordFormat

extension Reading {
    /// What is known of a pump. A temperature that can't be believed is there, without a value.
    public init(_ state: PumpState) {
        self.init()
        add("state", state.power.rawValue)
        if let percent = state.speedPercent { add("speed_percent", percent) }
        if let speed = state.speed { add("speed_pwm", Int(speed.pwm)) }
        let temperatures = state.temperatures
        for (name, reading) in [
            ("water_temp_c", temperatures.water), ("skin_temp_c", temperatures.skin), ("temp_c", temperatures.single),
        ] {
            if let reading { add(name, reading.isPlausible ? reading.celsius : nil) }
        }
        if let minutes = state.runtimeMinutes { add("runtime_min", minutes) }
        if let minutes = state.remainingMinutes { add("remaining_min", minutes) }
        if let control = state.lastControl { add("last_control", control.rawValue) }
        if let error = state.error { add("error", error.rawValue) }
    }
}
