extension FamilyVerification {
    /// Checks of the unsolicited lines of a running pump.
    static let unaskedChecks: [Check] = [
        Check("pump.unasked.status", 31, "STATUS:{…} every 5 s while the pump runs", needs: [.run]) { bench in
            try await bench.start()
            var beats = [try await bench.untilUnasked()]
            // A busy host may delay a line once, so measure again.
            while beats.count < 5 {
                for _ in 1...2 { beats.append(try await bench.untilUnasked()) }
                let intervals = zip(beats, beats.dropFirst()).map { $1 - $0 }.suffix(2)
                for interval in intervals { bench.measure(.statusInterval, interval) }
                if beatRange.contains((intervals[intervals.startIndex] + intervals[intervals.startIndex + 1]) / 2) {
                    return
                }
            }
            let got = zip(beats, beats.dropFirst()).map { "\(($1 - $0).milliseconds) ms" }.joined(separator: ", ")
            throw CheckFailure(expected: "a STATUS line 5 s after the last", got: got)
        },
        Check("pump.unasked.beat", 37, "the 5 s are counted from the board's start, not from ON", needs: [.run]) {
            bench in
            try await bench.start()
            let beat = try await bench.untilUnasked()
            try await bench.quiet(for: .seconds(2))
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            try await bench.ask("ON", "OK", "PUMP:ON")
            let interval = try await bench.untilUnasked() - beat
            try require(
                beatRange.contains(interval), "the next STATUS 5 s after the last, also with OFF and ON between them",
                got: "\(interval.milliseconds) ms")
        },
    ]

    /// The accepted times between two status lines: 5 s, with a tolerance for the turns of the main loop and for the
    /// carrier.
    private static let beatRange = Duration.milliseconds(4600)...Duration.milliseconds(5400)
}

extension Bench {
    /// Waits for the next unsolicited status line, and returns the time of its first byte.
    ///
    /// - Throws: `CheckFailure` if none comes within 5.6 s plus the timeout, or if a line that can't be unsolicited
    ///   comes first.
    fileprivate func untilUnasked() async throws -> Duration {
        let deadline = elapsed + .milliseconds(5600) + options.timeout
        while let line = try await line(by: deadline) {
            if line.text.hasPrefix("STATUS:") { return line.begin }
            guard FamilyVerification.pump.isUnasked(line.text) else {
                throw CheckFailure(expected: "unsolicited STATUS:{…}", got: line.bytes.shown)
            }
        }
        throw CheckFailure(expected: "unsolicited STATUS:{…} within 5 s", got: "none")
    }

    /// Waits for these lines, in this order, and skips unsolicited lines before and between them.
    func untilSaid(_ expected: LineExpectation..., within time: Duration = .seconds(2)) async throws {
        try await hear(expected, within: max(time, options.timeout))
    }
}
