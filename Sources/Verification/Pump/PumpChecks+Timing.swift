extension FamilyVerification {
    /// Checks of the pace of the main loop. A busy host may delay single lines, so a check that measures times measures
    /// again before it fails.
    static let timingChecks: [Check] = [
        Check("pump.off.silence", 31, "STATUS every 5 s while the pump runs, and never while it does not") { bench in
            try await bench.quiet(for: .milliseconds(5400))
            let said = bench.unasked.filter { !$0.isOfDebugBuild }
            try require(said.isEmpty, "nothing while the pump is off", got: said.shown)
        },
        Check("pump.reply.latency", 45, "a reply takes 0 to about 250 ms") { bench in
            let limit = Duration.milliseconds(300)
            // An invalid speed changes nothing. No other check sends 998: a test makes a firmware answer it late.
            try await measure("a reply within \(limit.milliseconds) ms", .zero...limit) {
                var times: [Duration] = []
                for pause in [30, 60, 90] {
                    try await bench.quiet(for: .milliseconds(pause))
                    let start = bench.now
                    times.append(try await bench.ask("SPEED:998", refusedSpeed)[0].begin - start)
                }
                return times
            }
        },
        Check("pump.loop.one-command", 44, "a turn of the main loop handles at most one command") { bench in
            try await requireLoop(bench)
            // The lower limit matters here; the checks below judge the durations.
            try await measure("at least 40 ms between two replies", .milliseconds(40)...(.seconds(1))) {
                try await rowOfReplies(bench)
            }
        },
        Check("pump.loop.period", 43, "a turn of the main loop sleeps for 100 ms and works for about 9 ms") { bench in
            try await requireLoop(bench)
            try await measure("a turn of 109 ms", .milliseconds(90)...(.milliseconds(130))) {
                let periods = try await idleTurns(bench)
                let median = periods.median
                for period in periods {
                    bench.measure(.loopPeriod, period)
                    bench.measure(.jitter, period < median ? median - period : period - median)
                }
                return periods
            }
        },
        Check("pump.loop.blink", 44, "a turn that handled a command blinks for 50 ms more") { bench in
            try await requireLoop(bench)
            try await measure("50 ms more than a turn without a command", .milliseconds(30)...(.milliseconds(70))) {
                let periods = try await idleTurns(bench)
                let blinks = try await rowOfReplies(bench).map { $0 - periods.mean }
                for blink in blinks { bench.measure(.blink, blink) }
                return blinks
            }
        },
    ]

    /// Fails unless the median or the mean of a sample is in `range` in one of three attempts. The mean is an
    /// alternative to the median, because BLE and other carriers with a fixed interval deliver only at multiples of
    /// this interval.
    private static func measure(
        _ expected: String, _ range: ClosedRange<Duration>, _ sample: () async throws -> [Duration]
    ) async throws {
        var medians: [Duration] = []
        repeat {
            let times = try await sample()
            medians.append(times.median)
            if range.contains(times.median) || range.contains(times.mean) { return }
        } while medians.count < 3
        let got = medians.map { "\($0.milliseconds) ms" }.joined(separator: ", ")
        throw CheckFailure(expected: expected, got: got)
    }

    /// Skips the check if the firmware always answers at once, and so has no loop whose turns could be measured.
    private static func requireLoop(_ bench: Bench) async throws {
        var latest = Duration.zero
        // A loop of 109 ms still sleeps or blinks at the end of each of these pauses, so that an answer is late.
        for pause in [15, 30, 50, 75] {
            try await bench.quiet(for: .milliseconds(pause))
            let start = bench.now
            latest = max(latest, try await bench.ask("TEMP", .temperatures)[0].begin - start)
            if latest > .milliseconds(40) { return }
        }
        throw CheckSkip(
            reason: "the firmware answers within \(latest.milliseconds) ms at any time: no loop can be measured")
    }

    /// Returns the times between the replies to several commands in one write.
    private static func rowOfReplies(_ bench: Bench) async throws -> [Duration] {
        try await bench.send(String(repeating: "TEMP\n", count: 5))
        let lines = try await bench.hear(Array(repeating: .temperatures, count: 5))
        return zip(lines, lines.dropFirst()).map { $1.begin - $0.begin }
    }

    /// Returns the durations of turns in which no command is handled. Such a turn delays the reply to a command that
    /// arrives during the turn.
    private static func idleTurns(_ bench: Bench) async throws -> [Duration] {
        var (turns, shortest) = ([Duration](), Duration.seconds(1))
        for _ in 0..<4 {
            try await bench.send("TEMP\nTEMP\n")
            let row = try await bench.hear([.temperatures, .temperatures])
            let begin = row[1].begin
            // The turn that sends row[1] ends `turn` after row[1]. Then the measured turn begins, and TEMP must arrive
            // during it: a fifth of `turn` later. A carrier may make `turn` appear longer, so the shortest one decides
            // when TEMP is sent.
            let turn = begin - row[0].begin
            shortest = min(shortest, turn)
            try await bench.quiet(for: shortest * 6 / 5 - (bench.now - begin))
            try await bench.send("TEMP\n")
            let reply = try await bench.hear([.temperatures])[0]
            turns.append(reply.begin - begin - turn)
        }
        return turns
    }
}

extension [HeardLine] {
    var shown: String { map(\.bytes.shown).joined(separator: ", ") }
}
