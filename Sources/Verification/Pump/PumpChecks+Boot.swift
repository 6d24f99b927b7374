extension FamilyVerification {
    /// Checks of the output after a reset.
    static let bootChecks: [Check] = [
        Check(
            "pump.boot.banner", 40, "a banner: HELLO:…, or lines of = with Device, Version, Baud Rate, Ready; or none"
        ) { bench in
            let lines = try await bench.startingLines()
            let texts = lines.map(\.text).filter { !$0.hasPrefix("[") && !$0.hasPrefix("Reset: ") }
            if texts.isEmpty {
                bench.note("no boot banner")
            } else if texts[0].hasPrefix("HELLO:") {
                try require(texts.count == 1, "one line HELLO:…", got: lines.shown)
                bench.note("boot banner HELLO")
            } else {
                let needed = ["=", "Device: ", "Version: ", "Baud Rate: 9600", "Ready for commands..."]
                let isThere = needed.allSatisfy { part in texts.contains { $0.hasPrefix(part) } }
                try require(isThere, needed.joined(separator: ", "), got: lines.shown)
                bench.note("boot banner of several lines")
            }
        }
    ]

    /// Checks of the state after a reset.
    static let resetChecks: [Check] = [
        Check("pump.boot.off", 4, "the pump is off after a reset", needs: [.run, .stimulus]) {
            bench in
            try await bench.start()
            try await bench.act("reset")
            _ = try await bench.untilStarted()
            try await bench.expect(state: "OFF")
        }
    ]
}

extension Bench {
    /// Returns the lines that the board prints while starting: those from the opening of the port, or those after a
    /// reset by the stimulus.
    fileprivate func startingLines() async throws -> [HeardLine] {
        if let bootLines { return bootLines }
        guard stimulus != nil else {
            throw CheckSkip(
                reason: options.reason("opening this endpoint does not reset the board: needs a stimulus", .stimulus))
        }
        try await act("reset")
        return try await untilStarted()
    }

    /// Repeats STATUS until a board that was reset answers, and returns the lines before the answer.
    ///
    /// - Throws: `CheckFailure` if no answer comes within 6 s. A board needs 3.3 s at most: see pump-4 in
    ///   docs/protocols.md.
    func untilStarted() async throws -> [HeardLine] {
        let deadline = elapsed + .seconds(6)
        var heard: [HeardLine] = []
        while elapsed < deadline {
            // A starting board keeps queries in its UART and answers them later: the drain below takes these replies.
            try await send("STATUS\n", isQuestion: true)
            let next = min(elapsed + .seconds(1), deadline)
            while let line = try await line(by: next) {
                if line.text.hasPrefix("STATUS:") {
                    try await drain(quiet: .milliseconds(700))
                    return heard
                }
                heard.append(line)
            }
        }
        throw CheckFailure(expected: "an answer within 6 s of the reset", got: "none")
    }
}
