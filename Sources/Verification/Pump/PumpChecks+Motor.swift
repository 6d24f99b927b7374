extension FamilyVerification {
    /// Checks of the motor itself, as the stimulus sees it: the firmware's own reports may be wrong.
    static let motorChecks: [Check] = [
        Check("pump.motor.start", 17, "ON starts the pump at PWM 180 (70 %)", needs: [.run, .stimulus]) { bench in
            // Let the firmware take the knob's value of PWM 180 first, so that the knob does not change the speed after
            // ON.
            try await bench.startAtKnob(reading: 716)
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.start()
            try await bench.quiet(for: .twoTurns)
            try await bench.expect(duty: 180)
        },
        Check("pump.motor.speed", 50, "the motor is driven by D9 (PWM)", needs: [.run, .stimulus]) { bench in
            try await bench.run(at: 200)
            try await bench.expect(duty: 200)
        },
        Check(
            "pump.motor.off", 50, "the motor is driven by D9 (PWM) and D8 (enable), and stands still when off",
            needs: [.run, .stimulus]
        ) { bench in
            try await bench.run(at: 190)
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.expect(duty: 0)
        },
        Check(
            "pump.motor.overheat", 50, "the motor stands still in the error state",
            needs: [.run, .stimulus]
        ) { bench in
            try await bench.overheat("50.9", "34.5")
            try await bench.expect(duty: 0)
        },
    ]
}

extension Bench {
    /// Starts the pump, waits until the knob has had its effect, for which the firmware needs a turn of its main loop,
    /// and sets the speed.
    fileprivate func run(at speed: Int) async throws {
        try await start()
        try await quiet(for: .twoTurns)
        try await ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected)
    }

    /// Fails unless the motor is driven with this duty, from 0 to 255.
    fileprivate func expect(duty: Int) async throws {
        let now = try await observe("duty")
        try require(now == "\(duty)", "the motor is driven with PWM \(duty)", got: "PWM \(now)")
    }
}
