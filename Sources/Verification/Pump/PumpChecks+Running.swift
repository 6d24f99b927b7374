extension FamilyVerification {
    /// A pump that runs.
    static let runChecks: [Check] = [
        Check("pump.on.reply", "1, table: ON is answered by OK, PUMP:ON", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.ask("ON", "OK", "PUMP:ON")
        },
        Check("pump.on.state", "1, table: ON starts the pump", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.ask("ON", "OK", "PUMP:ON")
            try await bench.expect(state: "ON")
        },
        Check("pump.on.case", "1, table: commands are case-insensitive", needs: [.run]) { bench in
            bench.mayHaveRun = true
            for command in ["on", "oN"] { try await bench.ask(command, "OK", "PUMP:ON") }
        },
        Check("pump.on.nul", "1, table: ON\\0junk is ON", needs: [.run]) { bench in
            bench.mayHaveRun = true
            try await bench.ask("ON\0junk", "OK", "PUMP:ON")
        },
        Check("pump.on.untrimmed", "1, table: no spaces are trimmed", needs: [.run]) { bench in
            bench.mayHaveRun = true
            for command in [" ON", "ON ", "ONX", "O"] { try await bench.ask(command, "ERROR:UNKNOWN_COMMAND") }
            try await bench.expect(state: "OFF")
        },
        Check("pump.on.speed", "1, table: starts at PWM 180 (70 %); already on: back to 180", needs: [.run]) { bench in
            // A knob that stands elsewhere takes over a turn after the first ON, and once only.
            try await bench.start()
            try await bench.quiet(for: .milliseconds(350))
            if let percent = try await bench.status().number("Speed", "%"), percent != 70 {
                bench.note("the knob stands at \(percent) %")
            }
            try await bench.ask("SPEED:10", "OK", "SPEED:10")
            try await bench.ask("ON", "OK", "PUMP:ON")
            try await bench.expect(percent: 70, because: "of 180")
        },
        Check("pump.off.stops", "1, table: OFF always works", needs: [.run]) { bench in
            try await bench.start()
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.expect(state: "OFF")
        },
        Check("pump.status.on-fields", "1: State:ON,Speed:70%,Runtime:5m,Remaining:25m and temperatures", needs: [.run])
        {
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
        Check("pump.status.times", "1: Runtime and Remaining are whole minutes, truncated", needs: [.run]) { bench in
            try await bench.start()
            let status = try await bench.status()
            let (runtime, remaining) = (status.number("Runtime", "m"), status.number("Remaining", "m"))
            try require(
                runtime == 0 && (remaining == 29 || remaining == 30), "Runtime:0m,Remaining:29m or 30m",
                got: "Runtime:\(status["Runtime"] ?? ""),Remaining:\(status["Remaining"] ?? "")")
        },
    ]

    /// The speed of a pump that runs.
    static let runSpeedChecks: [Check] = [
        Check("pump.speed.reply", "1, table: SPEED:<n> is answered by OK, SPEED:<n>", needs: [.run]) { bench in
            try await bench.start()
            for speed in [100, 77, 255] { try await bench.ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected) }
        },
        Check("pump.speed.percent", "1: Speed is floor(pwm * 100 / 255) percent", needs: [.run]) { bench in
            try await bench.start()
            try await bench.quiet(for: .milliseconds(350))
            for (speed, percent) in [(1, 0), (3, 1), (127, 49), (128, 50), (200, 78), (254, 99), (255, 100)] {
                try await bench.ask("SPEED:\(speed)", "OK", "SPEED:\(speed)".expected)
                try await bench.expect(percent: percent, because: "of \(speed)")
            }
        },
        Check("pump.speed.zero", "1, table: 0 is allowed: on, but still", needs: [.run]) { bench in
            try await bench.start()
            try await bench.quiet(for: .milliseconds(350))
            try await bench.ask("SPEED:0", "OK", "SPEED:0")
            try await bench.expect(state: "ON")
            try await bench.expect(percent: 0, because: "of 0")
        },
        Check("pump.speed.atoi", "1, table:  200→200, 5x→5, 1e2→1, abc and empty→0", needs: [.run]) { bench in
            try await bench.start()
            for (text, speed) in [(" 200", 200), ("+7", 7), ("5x", 5), ("1e2", 1), ("abc", 0), ("", 0)] {
                try await bench.ask("SPEED:" + text, "OK", "SPEED:\(speed)".expected)
            }
        },
        Check("pump.speed.kept", "1, table: out of range is ERROR:INVALID_SPEED_VALUE", needs: [.run]) { bench in
            try await bench.start()
            try await bench.quiet(for: .milliseconds(350))
            try await bench.ask("SPEED:50", "OK", "SPEED:50")
            for command in ["SPEED:999", "SPEED:-5"] { try await bench.ask(command, invalidSpeed) }
            try await bench.expect(percent: 19, because: "of 50, as before")
        },
    ]
}

extension String {
    var expected: LineExpectation { LineExpectation(stringLiteral: self) }
}

extension Bench {
    /// Starts the pump.
    func start() async throws {
        mayHaveRun = true
        try await ask("ON", "OK", "PUMP:ON")
    }
}
