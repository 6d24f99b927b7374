extension FamilyVerification {
    /// The motor, which is seen by who stands beside it: the firmware's own words on it may be wrong.
    static let motorChecks: [Check] = [
        Check("pump.motor.start", "1, table: ON starts at PWM 180 (70 %)", needs: [.run, .stimulus]) { bench in
            // At a knob that means 180 too, once it was taken: nothing changes the speed behind ON.
            try await bench.startAtKnob(reading: 716)
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.start()
            try await bench.quiet(for: .milliseconds(350))
            try await bench.expect(duty: 180)
        },
        Check("pump.motor.speed", "1, wiring: D9 PWM; table: SPEED:<n>", needs: [.run, .stimulus]) { bench in
            try await bench.run(at: 200)
            try await bench.expect(duty: 200)
        },
        Check(
            "pump.motor.off", "1, wiring: D9 PWM, D8 enable; table: OFF always works", needs: [.run, .stimulus]
        ) { bench in
            try await bench.run(at: 190)
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.expect(duty: 0)
        },
        Check(
            "pump.motor.overheat", "1, wiring: D9 PWM, D8 enable; ERROR:OVERHEAT … when skin > 40.0 °C",
            needs: [.run, .stimulus]
        ) { bench in
            try await bench.overheat("41.9", "34.5")
            try await bench.expect(duty: 0)
        },
    ]
}

extension Bench {
    /// Has the pump run at a speed that no knob changes any more.
    fileprivate func run(at speed: Int) async throws {
        try await start()
        try await quiet(for: .milliseconds(350))
        try await ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected)
    }

    /// Fails unless the motor is driven so, from 0 to 255.
    fileprivate func expect(duty: Int) async throws {
        let now = try await observe("duty")
        try require(now == "\(duty)", "the motor is driven with PWM \(duty)", got: "PWM \(now)")
    }
}
