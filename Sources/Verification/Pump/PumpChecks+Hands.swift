extension FamilyVerification {
    /// Checks of the button on the lid.
    static let buttonChecks: [Check] = [
        Check("pump.button.on", 32, "MANUAL:ON when the button has started the pump", needs: [.run, .stimulus]) {
            bench in
            bench.mayHaveRun = true
            try await bench.act("press")
            try await bench.untilSaid("MANUAL:ON")
            try await bench.expect(state: "ON")
        },
        Check("pump.button.off", 33, "MANUAL:OFF when the button has stopped the pump", needs: [.run, .stimulus]) {
            bench in
            try await bench.start()
            try await bench.quiet(for: .twoTurns)
            try await bench.act("press")
            try await bench.untilSaid("MANUAL:OFF")
            try await bench.expect(state: "OFF")
        },
    ]

    /// Checks of the speed knob. A reading from 20 to 1023 means the PWM value 10 + (reading − 20) × 245 / 1003,
    /// rounded down: 716 means 180, and 715 and 713 mean 179.
    static let knobChecks: [Check] = [
        Check("pump.knob.speed", 47, "knob readings of 20 to 1023 set PWM 10 to 255", needs: [.run, .stimulus]) {
            bench in
            try await bench.startAtKnob(reading: 716)
            for (reading, percent) in [(1023, 100), (400, 40), (40, 5)] {
                try await bench.turn(to: reading)
                try await bench.expect(percent: percent, because: "with the knob at \(reading)")
            }
        },
        Check(
            "pump.knob.zero", 47, "a knob reading below 20 of 1023 sets PWM 0", needs: [.run, .stimulus]
        ) { bench in
            try await bench.startAtKnob(reading: 715)
            for (reading, percent) in [(19, 0), (20, 3)] {
                try await bench.turn(to: reading)
                try await bench.expect(percent: percent, because: "with the knob at \(reading)")
            }
        },
        Check(
            "pump.knob.hysteresis", 48,
            "the knob sets the speed if it differs by more than 5 from the last value taken",
            needs: [.run, .stimulus]
        ) {
            bench in
            // The readings 714, 734, 738, 716, and 714 mean PWM 179, 184, 185, 180, and 179.
            try await bench.startAtKnob(reading: 714)
            for (held, taken, percent) in [(734, 738, 72), (716, 714, 70)] {
                try await bench.ask("SPEED:100", "OK", "SPEED:100")
                try await bench.turn(to: held)
                try await bench.expect(percent: 39, because: "for PWM 100: the knob has moved by 5")
                try await bench.turn(to: taken)
                try await bench.expect(percent: percent, because: "with the knob at \(taken), moved by 6")
            }
        },
        Check(
            "pump.knob.boot", 49, "the last value taken from the knob is 180 when the board starts",
            needs: [.run, .stimulus]
        ) { bench in
            // The readings 739 and 741 mean PWM 185 and 186.
            try await bench.act("turn", "\(739.0 / 1023)")
            try await bench.act("reset")
            _ = try await bench.untilStarted()
            try await bench.start()
            try await bench.quiet(for: .fourTurns)
            try await bench.expect(percent: 70, because: "for PWM 180: the knob differs by 5")
            try await bench.turn(to: 741)
            try await bench.expect(percent: 72, because: "with the knob at 741, which differs by 6 from 180")
        },
        Check(
            "pump.knob.only-moved", 48, "ON and SPEED hold until the knob is turned",
            needs: [.run, .stimulus]
        ) {
            bench in
            try await bench.startAtKnob(reading: 713, speed: 102)
            try await bench.quiet(for: .milliseconds(700))
            try await bench.expect(percent: 40, because: "for PWM 102: the knob has not moved")
        },
    ]
}

extension Bench {
    /// Turns the knob to a reading of 0 to 1023, and waits until the firmware has read the knob.
    fileprivate func turn(to reading: Int) async throws {
        // The stimulus takes a position from 0 to 1. Full precision, so that rounding leads to this very reading.
        try await act("turn", "\(Double(reading) / 1023)")
        try await quiet(for: .fourTurns)
    }

    /// Starts the pump, lets the firmware take a reading of the knob, and sets the speed, to a value that differs from
    /// the knob's.
    func startAtKnob(reading: Int, speed: Int = 100) async throws {
        // Turn the knob from far away: the firmware ignores a reading that is near the last one that it took.
        try await act("turn", "0")
        try await start()
        try await quiet(for: .fourTurns)
        try await turn(to: reading)
        try await ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected)
    }
}
