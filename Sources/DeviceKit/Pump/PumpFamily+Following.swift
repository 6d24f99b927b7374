public import LineProtocol

/// Follows the state of a pump: queries it at intervals, as the phone app does, and listens in between. If the link is
/// lost, the monitor reconnects.
///
/// ```swift
/// for try await update in try await PumpMonitor(over: link, Reconnector(endpoint, link)) {
///     if case .heard(.manual(let isOn)) = update.event { print("the button: \(isOn)") }
///     print(update.state.power)
/// }
/// ```
public typealias PumpMonitor = DeviceMonitor<PumpFamily>

/// An update of a ``PumpMonitor``. Its alarms concern the skin sensor.
public typealias PumpUpdate = DeviceUpdate<PumpFamily>

extension PumpFamily: FollowedFamily {
    public static var row: Family { .pump }

    /// Returns all known values, and the derived ones: `runtime_progress` and `safety_shutoff`.
    public static func values(of state: PumpState) -> [String: StateValue] {
        var values: [String: StateValue] = [:]
        if state.power != .unknown {
            values["state"] = .text(state.power.rawValue)
            values["safety_shutoff"] = .boolean(state.isSafetyShutOff)
        }
        let temperatures = state.temperatures
        values["speed_percent"] = state.speedPercent.map { .integer($0) }
        values["speed_pwm"] = state.speed.map { .integer(Int($0.pwm)) }
        values["water_temp_c"] = temperatures.water.map { .number($0.celsius) }
        values["skin_temp_c"] = temperatures.skin.map { .number($0.celsius) }
        values["temp_c"] = temperatures.single.map { .number($0.celsius) }
        values["runtime_min"] = state.runtimeMinutes.map { .integer($0) }
        values["remaining_min"] = state.remainingMinutes.map { .integer($0) }
        values["runtime_progress"] = state.runtimeProgress.map { .number($0) }
        values["last_control"] = state.lastControl.map { .text($0.rawValue) }
        values["error"] = state.error.map { .text($0.rawValue) }
        return values
    }

    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool
    ) async throws(SessionError) -> PumpSession {
        try await PumpSession.begin(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }

    public static func message(of answer: PumpReply) -> PumpMessage? {
        if case .status(let status) = answer { .status(status) } else { nil }
    }

    public static func meaning(of message: PumpMessage) -> MessageMeaning {
        switch message {
        case .status, .temperatures, .pump, .speed: .state
        case .manual(let isOn): .event("manual", text: isOn ? "MANUAL:ON" : "MANUAL:OFF")
        case .error(let code): .error(code.rawValue)
        case .text(let text): .text([UInt8](text.utf8))
        case .unknown(let bytes): .text(bytes)
        case .ok: .nothing
        }
    }

    /// Returns an alarm if the status of a running pump shows that the skin temperature can't be relied on; an empty
    /// array for any other status; nil for any other message.
    public static func alarms(by message: PumpMessage) -> [Alarm]? {
        guard case .status(let status) = message else { return nil }
        guard let fault = status.skinFaultWhileOn else { return [] }
        return [Alarm("sensor_fault", cause: fault.rawValue, fault.text(of: status))]
    }
}

// MARK: For people

extension PumpFamily {
    /// Returns the phrases in the order of their importance to a wearer. A narrow terminal shows only the first ones.
    public static func phrases(of state: PumpState) -> [String] {
        let temperatures = state.temperatures.texts(beside: state.temperatures.otherFields)
        let water = temperatures.filter { $0.name == "water" }
        var phrases = [state.power.phrase(isSafetyShutOff: state.isSafetyShutOff)]
        phrases += temperatures.filter { $0.name != "water" }.map { "\($0) \($1)" }
        if let percent = state.speedPercent {
            phrases.append("\(percent) %" + (state.speed.map { " (PWM \($0.pwm))" } ?? ""))
        }
        phrases += water.map { "\($0) \($1)" }
        if let runtime = state.runtimeMinutes, let progress = state.runtimeProgress {
            phrases.append("ran \(runtime) of 30 min (\(Int(progress * 100)) %)")
        }
        if let remaining = state.remainingMinutes { phrases.append("\(remaining) min left") }
        if let control = state.lastControl { phrases.append("by \(control == .app ? "app" : "button")") }
        if let error = state.error { phrases.append("error \(error.rawValue)") }
        return phrases
    }

    public static func difference(between before: PumpState, and now: PumpState) -> String? {
        guard before.power != now.power || before.speedPercent != now.speedPercent else { return nil }
        return "the pump was \(brief(before)) and is \(brief(now))"
    }

    private static func brief(_ state: PumpState) -> String {
        switch state.power {
        case .on: "on" + (state.speedPercent.map { " at \($0) %" } ?? "")
        case .off: "off"
        case .error: "stopped for safety"
        case .unknown: "in an unknown state"
        }
    }
}

extension PumpStatus.Power {
    fileprivate func phrase(isSafetyShutOff: Bool) -> String {
        switch self {
        case .on: "on"
        case .off: "off"
        case .error: isSafetyShutOff ? "stopped after 30 min" : "stopped for safety"
        case .unknown: "state unknown"
        }
    }
}
