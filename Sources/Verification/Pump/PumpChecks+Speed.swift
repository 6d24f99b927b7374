extension FamilyVerification {
    /// Checks of SPEED while the pump is off, when SPEED has no effect.
    static let speedChecks: [Check] = [
        Check("pump.speed.not-running", 20, "while the pump is off, SPEED is answered by ERROR:PUMP_NOT_RUNNING") {
            bench in
            for command in ["SPEED:1", "SPEED:99", "SPEED:255"] { try await bench.ask(command, notRunning) }
            try await bench.quiet(for: .milliseconds(300))
            let further = bench.unasked.filter { !$0.isOfDebugBuild }
            try require(further.isEmpty, "one line in reply to each command", got: further.shown)
        },
        Check("pump.speed.range-first", 20, "the range is checked first, also while the pump is off") { bench in
            for command in ["SPEED:256", "SPEED:-1", "SPEED:1000"] { try await bench.ask(command, invalidSpeed) }
        },
        Check("pump.speed.colon", 13, "SPEED without a colon is answered by ERROR:UNKNOWN_COMMAND") { bench in
            for command in ["SPEED", "SPEED 100", "SPEED100"] {
                try await bench.ask(command, "ERROR:UNKNOWN_COMMAND")
            }
        },
        Check(
            "pump.speed.atoi-range", 23,
            "spaces and a + before the number are skipped, and text after the digits is ignored"
        ) {
            bench in
            // All numbers of this loop are read as 0 to 255, and are refused only because the pump is off.
            for number in [" 200", "+5", "5x", "1e2", "abc", "", "00000255"] {
                try await bench.ask("SPEED:" + number, notRunning)
            }
            for number in ["  256", "+300", "256x", "-7"] { try await bench.ask("SPEED:" + number, invalidSpeed) }
        },
        Check("pump.speed.sixteen-bits", 24, "65536 is read as 0, 65736 and −65336 as 200; or all are out of range") {
            bench in
            var wraps: Set<Bool> = []
            let either = LineExpectation("ERROR:PUMP_NOT_RUNNING or ERROR:INVALID_SPEED_VALUE") {
                $0 == "ERROR:PUMP_NOT_RUNNING" || $0 == "ERROR:INVALID_SPEED_VALUE"
            }
            for number in ["65536", "65736", "-65336"] {
                wraps.insert(try await bench.ask("SPEED:" + number, either)[0].text == "ERROR:PUMP_NOT_RUNNING")
            }
            try require(wraps.count == 1, "all three wrap, or none does", got: "some wrap, some do not")
            bench.note(wraps == [true] ? "long numbers wrap at 16 bits" : "long numbers are out of range")
        },
    ]

    static let notRunning: LineExpectation = "ERROR:PUMP_NOT_RUNNING"
    static let invalidSpeed: LineExpectation = "ERROR:INVALID_SPEED_VALUE"
    /// Any error reply to SPEED, except the one to an unknown command. Other checks judge whether the error is the
    /// right one.
    static let refusedSpeed = LineExpectation("ERROR:INVALID_SPEED_VALUE") {
        $0.hasPrefix("ERROR:") && $0 != "ERROR:UNKNOWN_COMMAND"
    }
}
