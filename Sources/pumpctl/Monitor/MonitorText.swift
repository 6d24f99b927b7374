import LineProtocol

/// An update as people read it, on one line.
enum MonitorText {
    /// The whole line: the time, what has happened, and what is known.
    static func line(_ update: MonitorUpdate) -> String {
        let parts = [happening(update)].compactMap(\.self) + (tellsState(update) ? state(update.state) : [])
        return update.time.timeOfDayInSeconds + "  " + parts.joined(separator: "  ")
    }

    /// What is known, without what has happened.
    static func stateLine(_ update: MonitorUpdate) -> String {
        let link = update.isLinkUp ? [] : ["link lost"]
        return update.time.timeOfDayInSeconds + "  " + (link + state(update.state)).joined(separator: "  ")
    }

    private static func tellsState(_ update: MonitorUpdate) -> Bool { update.event != .text }

    private static func happening(_ update: MonitorUpdate) -> String? {
        let text = update.text ?? ""
        return switch update.event {
        case .status: nil
        case .manual: "button pressed:"
        case .error: "the pump reports \(text):"
        case .text: "\"\(text)\""
        case .sensorFault: "ALARM: \(text);"
        case .noAnswer, .notUnderstood, .refused: "\(text);"
        case .lost: "link lost: \(text);"
        case .back: "link is back\(text.isEmpty ? "" : ", \(text)");"
        }
    }

    /// What is otherwise than it was before the link was lost; nil where nothing is.
    static func comparison(_ before: PumpState, _ now: PumpState) -> String? {
        guard before.power != now.power || before.speedPercent != now.speedPercent else { return nil }
        return "the pump was \(brief(before)) and is \(brief(now))"
    }

    private static func brief(_ state: PumpState) -> String {
        switch state.power {
        case .on: "on" + (state.speedPercent.map { " at \($0) %" } ?? "")
        case .off: "off"
        case .error: "stopped for safety"
        case .unknown: "in no known state"
        }
    }

    private static func state(_ state: PumpState) -> [String] {
        var parts: [String] = []
        switch state.power {
        case .on: parts.append("on")
        case .off: parts.append("off")
        case .error: parts.append(state.isSafetyShutOff ? "stopped after 30 min" : "stopped for safety")
        case .unknown: parts.append("state unknown")
        }
        if let percent = state.speedPercent {
            parts.append("\(percent) %" + (state.speed.map { " (PWM \($0.pwm))" } ?? ""))
        }
        let temperatures = PumpText.rows(state.temperatures)
        parts += temperatures.map { "\($0) \($1)" }
        if let runtime = state.runtimeMinutes, let progress = state.runtimeProgress {
            parts.append("ran \(runtime) of 30 min (\(Int(progress * 100)) %)")
        }
        if let remaining = state.remainingMinutes { parts.append("\(remaining) min left") }
        if let control = state.lastControl { parts.append("by \(control == .app ? "app" : "button")") }
        if let error = state.error { parts.append("error \(error.rawValue)") }
        return parts
    }
}
