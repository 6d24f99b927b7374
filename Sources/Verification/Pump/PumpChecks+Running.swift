extension FamilyVerification {
    /// Checks of a running pump.
    static let runChecks: [Check] = [
        // This check is the first that starts the pump, because all later checks need OFF to stop the pump. So it
        // accepts any reply to ON.
        Check("pump.off.stops", 19, "OFF always works", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.say("ON")
            try await bench.drain(quiet: .milliseconds(300), limit: .seconds(2))
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.expect(state: "OFF")
        },
        Check("pump.on.reply", 11, "ON is answered by OK, PUMP:ON", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.ask("ON", "OK", "PUMP:ON")
        },
        Check("pump.on.state", 11, "ON starts the pump", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.ask("ON", "OK", "PUMP:ON")
            try await bench.expect(state: "ON")
        },
        Check("pump.on.case", 7, "commands are case-insensitive", needs: [.run]) { bench in
            bench.mayHaveRun = true
            for command in ["on", "oN"] { try await bench.ask(command, "OK", "PUMP:ON") }
        },
        Check("pump.on.nul", 9, "ON, NUL, junk is ON", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.ask("ON\0junk", "OK", "PUMP:ON")
        },
        Check("pump.on.untrimmed", 8, "no spaces are trimmed", needs: [.run]) { bench in
            bench.mayHaveRun = true
            for command in [" ON", "ON ", "ONX", "O"] { try await bench.ask(command, "ERROR:UNKNOWN_COMMAND") }
            try await bench.expect(state: "OFF")
        },
        Check(
            "pump.status.on-fields", 25, "a running pump reports its state, speed, times and temperatures",
            needs: [.run]
        ) {
            bench in
            try await bench.start()
            let status = try await bench.status()
            for (name, unit) in [("Speed", "%"), ("Runtime", "m"), ("Remaining", "m")] {
                try require(
                    status.number(name, unit) != nil, "\(name):<number>\(unit)", got: "\(name):\(status[name] ?? "")")
            }
            let doubled = Set(status.fields.map(\.name)).count != status.fields.count
            try require(!doubled, "each field once", got: status.names)
        },
        Check("pump.status.times", 27, "Runtime and Remaining are whole minutes, truncated", needs: [.run]) { bench in
            try await bench.start()
            let status = try await bench.status()
            let (runtime, remaining) = (status.number("Runtime", "m"), status.number("Remaining", "m"))
            try require(
                runtime == 0 && (remaining == 29 || remaining == 30), "Runtime:0m,Remaining:29m or 30m",
                got: "Runtime:\(status["Runtime"] ?? ""),Remaining:\(status["Remaining"] ?? "")")
        },
    ]

    /// Checks of the speed of a running pump.
    static let runSpeedChecks: [Check] = [
        Check("pump.speed.reply", 13, "SPEED:<n> is answered by OK, SPEED:<n>", needs: [.run]) { bench in
            try await bench.start()
            for speed in [100, 77, 255] { try await bench.ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected) }
        },
        Check(
            "pump.on.speed", 17, "ON starts the pump at PWM 180 (70 %), and sets a running pump back to 180",
            needs: [.run]
        ) { bench in
            // A knob that is not at 180 sets the speed one turn of the main loop after the first ON since the board's
            // start, and later only if it is moved. The checks that query the speed wait for that turn.
            try await bench.start()
            try await bench.quiet(for: .twoTurns)
            if let percent = try await bench.status().number("Speed", "%"), percent != 70 {
                bench.note("the knob stands at \(percent) %")
            }
            try await bench.ask("SPEED:10", "OK", "SPEED:10")
            try await bench.ask("ON", "OK", "PUMP:ON")
            try await bench.expect(percent: 70, because: "for PWM 180")
        },
        Check("pump.speed.percent", 26, "Speed is floor(PWM × 100 / 255) percent", needs: [.run]) { bench in
            try await bench.start()
            try await bench.quiet(for: .twoTurns)
            for (speed, percent) in [(1, 0), (3, 1), (127, 49), (128, 50), (200, 78), (254, 99), (255, 100)] {
                try await bench.ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected)
                try await bench.expect(percent: percent, because: "for PWM \(speed)")
            }
        },
        Check("pump.speed.zero", 21, "SPEED:0 is allowed: the pump is on, but stands still", needs: [.run]) { bench in
            try await bench.start()
            try await bench.quiet(for: .twoTurns)
            try await bench.ask("SPEED:0", "OK", "SPEED:0")
            try await bench.expect(state: "ON")
            try await bench.expect(percent: 0, because: "for PWM 0")
        },
        Check("pump.speed.atoi", 23, "\" 200\" sets 200, 5x sets 5, 1e2 sets 1, abc and nothing set 0", needs: [.run]) {
            bench in
            try await bench.start()
            for (text, speed) in [(" 200", 200), ("+7", 7), ("5x", 5), ("1e2", 1), ("abc", 0), ("", 0)] {
                try await bench.ask("SPEED:" + text, "OK", "SPEED:\(speed)".expected)
            }
        },
        Check("pump.speed.kept", 20, "a refused speed changes nothing", needs: [.run]) { bench in
            try await bench.start()
            try await bench.quiet(for: .twoTurns)
            try await bench.ask("SPEED:50", "OK", "SPEED:50")
            let before = try await bench.status()["Speed"] ?? ""
            for command in ["SPEED:999", "SPEED:-5"] { try await bench.ask(command, refusedSpeed) }
            let after = try await bench.status()["Speed"] ?? ""
            try require(after == before, "Speed:\(before), as before", got: "Speed:\(after)")
        },
    ]
}

extension String {
    var expected: LineExpectation { LineExpectation(stringLiteral: self) }
}

extension Bench {
    /// Starts the pump, and fails unless it replies with OK and PUMP:ON.
    func start() async throws {
        mayHaveRun = true
        try await ask("ON", "OK", "PUMP:ON")
    }
}
