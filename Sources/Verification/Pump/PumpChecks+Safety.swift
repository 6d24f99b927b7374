extension FamilyVerification {
    /// Checks of the run timer.
    static let runtimeChecks: [Check] = [
        Check(
            "pump.status.minutes", 27, "Runtime and Remaining are whole minutes, truncated", needs: [.run, .stimulus]
        ) {
            bench in
            try await bench.start()
            try await bench.live(for: 330)
            let status = try await bench.status()
            let (runtime, remaining) = (status.number("Runtime", "m"), status.number("Remaining", "m"))
            try require(
                runtime == 5 && remaining == 24, "Runtime:5m,Remaining:24m after 5.5 minutes",
                got: "Runtime:\(status["Runtime"] ?? ""),Remaining:\(status["Remaining"] ?? "")")
        },
        Check(
            "pump.on.restarts-timer", 18, "ON to a running pump restarts its 30 minutes", needs: [.run, .stimulus]
        ) {
            bench in
            try await bench.start()
            try await bench.live(for: 150)
            try await bench.ask("ON", "OK", "PUMP:ON")
            let runtime = try await bench.status()["Runtime"]
            try require(runtime == "0m", "Runtime:0m after the second ON", got: "Runtime:\(runtime ?? "")")
        },
        Check(
            "pump.safety.thirty-minutes", 34, "ERROR:SAFETY_SHUTOFF after 30 minutes of running",
            needs: [.run, .stimulus]
        ) { bench in
            try await bench.start()
            try await bench.live(for: 1780)
            try await bench.expect(state: "ON")
            try await bench.advance(by: 25)
            try await bench.untilSaid("ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")
            try await bench.expect(state: "ERROR")
        },
    ]

    /// Checks of overheating, and of the error state after it.
    static let safetyChecks: [Check] = [
        Check(
            "pump.overheat.stops", 35, "ERROR:OVERHEAT when the skin is warmer than 40.0 °C", needs: [.run, .stimulus]
        ) { bench in
            try await bench.overheat("50.5", "34.1")
            try await bench.expect(state: "ERROR")
        },
        Check("pump.overheat.limit", 35, "ERROR:OVERHEAT above 40.0 °C, not at 39 °C", needs: [.run, .stimulus]) {
            bench in
            // Not nearer to 40 °C: what the firmware measures differs a little from the temperature that is set.
            try await bench.start()
            try await bench.act("temperature", "skin", "39")
            try await bench.quiet(for: .sevenTurns)
            try await bench.expect(state: "ON")
            try await bench.act("temperature", "skin", "41.5")
            try await bench.untilSaid("ERROR:OVERHEAT", .tooHot)
            try await bench.act("temperature", "skin", "34")
            try await bench.quiet(for: .fourTurns)
        },
        Check(
            "pump.error.start-failed", 42, "in the error state, ON is answered by ERROR:PUMP_START_FAILED",
            needs: [.run, .stimulus]
        ) { bench in
            try await bench.overheat("50.6", "34.2")
            try await bench.ask("ON", "ERROR:PUMP_START_FAILED")
            try await bench.expect(state: "ERROR")
        },
        Check(
            "pump.error.speed", 20, "in the error state, SPEED is answered by ERROR:PUMP_NOT_RUNNING",
            needs: [.run, .stimulus]
        ) { bench in
            try await bench.overheat("50.7", "34.3")
            try await bench.ask("SPEED:90", notRunning)
        },
        Check("pump.error.off", 38, "OFF leaves the error state", needs: [.run, .stimulus]) { bench in
            try await bench.overheat("50.8", "34.4")
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.expect(state: "OFF")
        },
    ]

    /// Checks of the temperatures.
    static let temperatureChecks: [Check] = [
        Check("pump.temp.value", 29, "STATUS reports WaterTemp:12.0C,SkinTemp:34.5C", needs: [.stimulus]) { bench in
            try await bench.act("temperature", "skin", "31")
            try await bench.quiet(for: .milliseconds(300))
            let status = try await bench.status()
            try checkTemperature(status["SkinTemp"] ?? status["Temp"], 31, "the skin is at 31 °C")
        },
        Check("pump.temp.width", 28, "9.5 is padded to four characters by a leading space", needs: [.stimulus]) {
            bench in
            // With one thermistor, this check cools the skin. Newer firmware stops a running pump at skin that cold,
            // but the pump is off here.
            let hasWater = StatusLine(try await bench.ask("TEMP", .temperatures)[0].text, kind: "TEMP") != nil
            let (probe, warm) = hasWater ? ("water", "12") : ("skin", "34")
            try await bench.act("temperature", probe, "9.4")
            try await bench.quiet(for: .milliseconds(300))
            let text = try await bench.ask("TEMP", .temperatures)[0].text
            let single = hasWater ? nil : text.dropFirst("TEMP:".count) + "C"
            let value = single.map(String.init) ?? StatusLine(text, kind: "TEMP")?["Water"]
            try checkTemperature(value, 9.4, "the \(probe) is at 9.4 °C")
            try await bench.act("temperature", probe, warm)
            try await bench.quiet(for: .sevenTurns)
        },
    ]

    /// Fails unless a field shows about `celsius`, in the format of a temperature.
    private static func checkTemperature(_ text: String?, _ celsius: Double, _ reason: String) throws {
        let value = text.flatMap { $0.hasSuffix("C") ? WrittenTemperature($0.dropLast())?.celsius : nil }
        // The surroundings change the temperature further, and the converter has steps.
        let isNear = value.map { abs($0 - celsius) <= 0.6 } ?? false
        try require(isNear, "about \(celsius)C, at least four characters wide: \(reason)", got: text ?? "no such field")
    }
}

extension LineExpectation {
    /// The text after ERROR:OVERHEAT, with the temperature or a question mark: AVR's printf has no `%f`.
    fileprivate static let tooHot = LineExpectation("Skin temperature too high: 41.2C or ?C") { text in
        let beginning = "Skin temperature too high: "
        guard text.hasPrefix(beginning), text.hasSuffix("C") else { return false }
        let value = text.dropFirst(beginning.count).dropLast()
        return value == "?" || Double(value) != nil
    }
}

extension Bench {
    /// Advances the device's clock by `seconds`, in steps of at most 2 minutes. The 24 status lines of a step fit into
    /// the buffers between pump and host.
    fileprivate func live(for seconds: Int) async throws {
        for part in stride(from: 0, to: seconds, by: 120) {
            try await advance(by: min(120, seconds - part))
            try await drain()
        }
    }

    /// Starts the pump and lets hot skin stop it, and then cools the skin.
    ///
    /// Each check has temperatures of its own, by which a test can give a firmware a flaw that shows in one check only.
    ///
    /// - Parameters:
    ///   - hot: The temperature of the hot skin in °C. It is so far above 40 °C that a firmware with a wrong limit
    ///     fails only the check of the limit.
    ///   - cool: The skin's temperature in °C afterwards.
    func overheat(_ hot: String, _ cool: String) async throws {
        try await start()
        try await act("temperature", "skin", hot)
        try await untilSaid("ERROR:OVERHEAT", .tooHot)
        try await act("temperature", "skin", cool)
        try await quiet(for: .fourTurns)
    }
}
