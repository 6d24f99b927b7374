extension FamilyVerification {
    /// The checks of an LED board, by docs/protocols.md.
    ///
    /// A board may report a new state without being asked. After each change, the checks wait until the board was
    /// silent for 200 ms, so that such a report is not taken for a reply.
    public static let led = FamilyVerification(
        family: "led",
        checks: [
            Check("led.ask", 3, "LED is answered by LED:0 or LED:1") { bench in
                try await bench.ask("LED", .light)
            },
            // This check precedes the other checks that set the light: they query the light afterwards, and a query
            // must change nothing.
            Check("led.kept", 7, "a query does not change the LED") { bench in
                for value in ["0", "1"] {
                    try await bench.send("LED:\(value)\n")
                    try await bench.drain(quiet: .milliseconds(200), limit: .seconds(2))
                    let light = try await bench.light("LED\n", isQuestion: true)
                    for _ in 1...2 { try await bench.expect(light: light) }
                }
            },
            Check("led.on", 4, "LED:1 switches the LED on") { bench in
                try await bench.bring(to: "0")
                try await bench.set("1")
            },
            Check("led.off", 5, "LED:0 switches the LED off") { bench in
                try await bench.bring(to: "1")
                try await bench.set("0")
            },
            Check("led.again", 6, "the written value is the new state, even if it is the old one") { bench in
                for _ in 1...2 { try await bench.set("1") }
            },
            Check(
                "led.now", 3, "LED is answered by LED:0 or LED:1, also after a change at the board",
                needs: [.stimulus]
            ) { bench in
                for (value, state) in [("0", "off"), ("1", "on")] {
                    try await bench.act("light", state)
                    // The board may also notify of the change.
                    try await bench.drain(quiet: .milliseconds(200))
                    try await bench.expect(light: value)
                }
            },
        ],
        begin: { bench in
            do {
                bench.memory = try await bench.untilAnswered { try await bench.firstLight(behind: $0) }
                return .ready
            } catch let failure as CheckFailure {
                return .unusable(failure)
            }
        },
        finish: { _, bench in try await bench.expectSilence() },
        recover: { bench in
            try await bench.drain(quiet: .milliseconds(300), limit: .seconds(2))
            do { _ = try await bench.light("LED\n", isQuestion: true) } catch is CheckFailure { return false }
            return true
        },
        end: { bench in
            // Restore the light as it was before the first check.
            if let memory = bench.memory { try? await bench.send("LED:\(memory)\n") }
            return .harmless
        },
        isUnasked: { _ in false },
        basis: [
            (["led.on", "led.off", "led.again", "led.now"], ["led.kept"]), (["led.again"], ["led.on", "led.off"]),
        ])
}

extension LineExpectation {
    fileprivate static let light = LineExpectation("LED:0 or LED:1") { $0 == "LED:0" || $0 == "LED:1" }
}

extension Bench {
    /// Sends `command`, and returns the light in the board's reply: `0` or `1`.
    fileprivate func light(_ command: String, isQuestion: Bool = false) async throws -> String {
        String(try await ask(raw: command, [.light], isQuestion: isQuestion)[0].text.dropFirst("LED:".count))
    }

    /// Queries a board that may be starting. After earlier queries without an answer, `unanswered` of them, also waits
    /// until their late answers have come.
    ///
    /// - Throws: `CheckFailure` if the board does not answer within the timeout.
    fileprivate func firstLight(behind unanswered: Int) async throws -> String {
        try await send("LED\n", isQuestion: true)
        let line = try await hearPastStart(.light)
        if unanswered > 0 { try await drain(quiet: .milliseconds(700)) }
        return String(line.text.dropFirst("LED:".count))
    }

    fileprivate func expect(light: String) async throws {
        let now = try await self.light("LED\n", isQuestion: true)
        try require(now == light, "LED:\(light)", got: "LED:\(now)")
    }

    /// Tries to bring the light to `value`, if necessary by the opposite command. If the attempt fails, the caller's
    /// check reports the failure.
    fileprivate func bring(to value: String) async throws {
        for command in [value, value == "0" ? "1" : "0"] {
            if try await light("LED\n", isQuestion: true) == value { return }
            try await send("LED:\(command)\n")
            try await drain(quiet: .milliseconds(200), limit: .seconds(2))
        }
    }

    /// Sets the light and checks its new state. The protocol defines no reply to this command; a board may report the
    /// new state, or send nothing.
    fileprivate func set(_ value: String) async throws {
        try await send("LED:\(value)\n")
        var isTold = false
        // A board may report its new state more than once. The limit is for a board that never stops.
        let deadline = elapsed + .seconds(2)
        while elapsed < deadline, let line = try await line(within: .milliseconds(200)) {
            try require(line.text == "LED:\(value)", "LED:\(value), or nothing", got: line.bytes.shown)
            isTold = true
        }
        note(isTold ? "reports its state when it is set" : "sends nothing when it is set")
        try await expect(light: value)
    }

    fileprivate func expectSilence() async throws { try await quiet(for: .milliseconds(100)) }
}
