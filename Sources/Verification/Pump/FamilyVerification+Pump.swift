import LineProtocol

extension FamilyVerification {
    /// The checks of a pump, by docs/protocols.md.
    public static let pump = FamilyVerification(
        family: "pump",
        checks: [
            statusChecks, commandChecks, lineChecks, speedChecks, timingChecks, bootChecks, runChecks, runSpeedChecks,
            resetChecks, unaskedChecks, buttonChecks, knobChecks, runtimeChecks, safetyChecks, motorChecks,
            temperatureChecks,
        ].flatMap(\.self),
        begin: PumpCare.begin, finish: PumpCare.finish, recover: PumpCare.recover, end: PumpCare.end,
        isUnasked: PumpCare.isUnasked, basis: pumpBasis)

    /// The prerequisites of the pump's checks. A check of a running pump ends with OFF, and so depends on the checks of
    /// OFF. If the check needs a pump that ON has started, it also depends on `pump.on.reply` and `pump.on.state`.
    private static let pumpBasis: [(dependents: [String], checks: [String])] = [
        (
            ["pump.temp.form", "pump.temp.width", "pump.command.case", "pump.command.nul", "pump.loop."]
                + ofLinesWithTemp,
            ["pump.temp.reply"]
        ),
        (["pump.line.end", "pump.off.stops"], ["pump.off.reply"]),
        (
            [
                "pump.command.untrimmed", "pump.command.whole", "pump.command.nul", "pump.line.longest",
                "pump.line.rest-of-too-long", "pump.speed.colon", "pump.on.untrimmed",
            ], ["pump.command.unknown"]
        ),
        (["pump.on.case"], ["pump.command.case"]),
        (["pump.on.untrimmed"], ["pump.command.untrimmed"]),
        (["pump.on.nul"], ["pump.command.nul"]),
        (["pump.line.behind-too-long", "pump.line.rest-of-too-long"], ["pump.line.too-long"]),
        (["pump.speed.atoi-range", "pump.speed.sixteen-bits"], ["pump.speed.not-running", "pump.speed.range-first"]),
        (["pump.speed.atoi"], ["pump.speed.atoi-range"]),
        (["pump.error.speed"], ["pump.speed.not-running"]),
        (["pump.on.", "pump.boot.off", "pump.button."] + ofRunning, ["pump.off.reply", "pump.off.stops"]),
        (
            [
                "pump.on.state", "pump.on.speed", "pump.on.restarts-timer", "pump.boot.off", "pump.button.off",
            ] + ofRunning,
            ["pump.on.reply"]
        ),
        (
            ["pump.on.speed", "pump.on.restarts-timer", "pump.boot.off", "pump.button.off"] + ofRunning,
            ["pump.on.state"]
        ),
        (["pump.loop.period"], ["pump.loop.one-command"]),
        (["pump.loop.blink"], ["pump.loop.one-command", "pump.loop.period"]),
        (["pump.unasked.beat"], ["pump.unasked.status"]),
        (
            [
                "pump.on.speed", "pump.speed.percent", "pump.speed.zero", "pump.speed.atoi", "pump.speed.kept",
                "pump.knob.", "pump.motor.start", "pump.motor.speed", "pump.motor.off",
            ], ["pump.speed.reply"]
        ),
        (["pump.status.minutes"], ["pump.status.times"]),
        (["pump.overheat.limit", "pump.error.", "pump.motor.overheat"], ["pump.overheat.stops"]),
        (["pump.knob.hysteresis"], ["pump.on.speed"]),
        (["pump.knob.boot"], ["pump.on.speed", "pump.boot.off", "pump.unasked.status"]),
    ]

    private static let ofLinesWithTemp = [
        "pump.line.return", "pump.line.both", "pump.line.empty", "pump.line.parts", "pump.line.behind-too-long",
    ]

    private static let ofRunning = [
        "pump.status.on-fields", "pump.status.times", "pump.status.minutes", "pump.speed.reply", "pump.speed.percent",
        "pump.speed.zero", "pump.speed.atoi", "pump.speed.kept", "pump.unasked.", "pump.knob.", "pump.safety.",
        "pump.overheat.", "pump.error.", "pump.motor.",
    ]
}

/// Keeps a pump safe during a verification: a pump that runs before the first check is not tested, and a pump that a
/// check may have left running is switched off after the check. OFF is also sent at the end, unless the pump was sent
/// only queries.
enum PumpCare {
    /// Refuses a pump that is running or was stopped for safety: somebody may be using it.
    ///
    /// An old reply, which a server has kept or another program has requested, must not count as the state of this
    /// pump. So earlier input is discarded, and the pump must report twice that it is off, the second time after a
    /// silence. If opening may have reset the board, earlier input is not discarded but kept as its boot lines.
    static func begin(_ bench: Bench) async throws -> FamilyVerification.Readiness {
        if bench.link.mayHaveReset {
            bench.bootLines = []
        } else {
            try await bench.leaveOutArrived()
        }
        let first = try await readOff(bench, within: bench.startPatience)
        guard case .ready = first else { return first }
        // Queries that a starting board has not read wait in its UART, and are answered late.
        try await takeLateAnswers(bench)
        return try await readOff(bench, within: bench.options.timeout * 2)
    }

    /// Repeats STATUS until the pump reports that it is off, or `patience` is over: the pump then counts as unusable.
    ///
    /// - Throws: ``VerificationError`` if the pump runs or was stopped for safety.
    private static func readOff(
        _ bench: Bench, within patience: Duration
    ) async throws -> FamilyVerification.Readiness {
        let deadline = bench.elapsed + patience
        var last: String?
        while bench.elapsed < deadline {
            // No line end precedes STATUS: a line end would complete a command that another program has half sent.
            try await bench.send("STATUS\n", isQuestion: true)
            let next = min(bench.elapsed + bench.options.timeout, deadline)
            while let line = try await bench.line(by: next) {
                last = line.bytes.shown
                guard line.text.hasPrefix("STATUS:") else {
                    bench.bootLines?.append(line)
                    continue
                }
                // Even in a malformed line, this text means that the pump may be running.
                if line.text.uppercased().contains("STATE:ON") { throw VerificationError.running }
                let state = StatusLine(line.text)?.state
                if state == "ERROR" { throw VerificationError.stoppedForSafety }
                if state == "OFF" { return .ready }
            }
        }
        let got = last ?? "no answer in \(patience.inSeconds) s"
        return .unusable(CheckFailure(expected: "STATUS:{State:OFF,…} in answer to STATUS", got: got))
    }

    /// Reads late replies, for 10 s at most, until none has come for 700 ms, which is several turns of the pump's main
    /// loop. Refuses the pump if it runs after all, or if somebody has switched it on in the meantime.
    private static func takeLateAnswers(_ bench: Bench) async throws {
        let deadline = bench.elapsed + .seconds(10)
        while bench.elapsed < deadline, let line = try await bench.line(within: .milliseconds(700)) {
            let text = line.text.uppercased()
            if text.contains("STATE:ON") || text.hasPrefix("MANUAL:ON") { throw VerificationError.running }
        }
    }

    static func isUnasked(_ line: String) -> Bool {
        line.hasPrefix("STATUS:") || line.hasPrefix("MANUAL:") || line.hasPrefix("[")
    }

    /// Queries the state. A surplus line before the answer fails the check, unless it may be unsolicited. A pump that
    /// is not off fails a check that does not need ``Check/Need/run``. After a check that does, it is sent OFF, which
    /// ends its error state too.
    static func finish(_ check: Check, _ bench: Bench) async throws {
        let state = try await bench.status().state
        let mayRun = check.needs.contains(.run)
        if state != "OFF" {
            guard mayRun else {
                if state == "ON" { bench.mayHaveRun = true }
                throw CheckFailure(expected: "the pump stays off", got: "State:\(state ?? "") after the check")
            }
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            let after = try await bench.status().state
            try require(after == "OFF", "State:OFF after OFF", got: "State:\(after ?? "")")
        }
    }

    static func recover(_ bench: Bench) async throws -> Bool {
        let isHeated = bench.hasActed(on: "temperature skin")
        // OFF comes first, so that neither the reading below nor the stimulus can delay it.
        if bench.mayHaveRun || isHeated { try await bench.send("\nOFF\n") }
        // The rest of a late reply must not count as the next reply.
        try await bench.drain(quiet: .milliseconds(300), limit: .seconds(2))
        // With hot skin, the pump would stop in the next checks too.
        if isHeated { try await bench.act("temperature", "skin", "34") }
        switch try await switchOff(bench, within: bench.options.timeout * 2) {
        // The checks go on with a pump in its error state or with an unreadable status, since each check reports the
        // failure.
        case .off, .acknowledged, .named("ERROR"): return true
        case .named, .silent: return false
        }
    }

    /// Switches the pump off. A pump that no check may have started gets a short time for this, unless it reports that
    /// it is on.
    static func end(_ bench: Bench) async -> Aftermath {
        do {
            if !bench.mayHaveRun {
                let state = try await switchOff(bench, within: bench.options.timeout * 2)
                if state == .off { return .safe }
                guard bench.mayHaveRun else { return notOff(bench, state.reason) }
            }
            let state = try await switchOff(bench, within: bench.options.offLimit)
            return state == .off ? .safe : notOff(bench, state.reason)
        } catch {
            return notOff(bench, "\(error)")
        }
    }

    /// Returns the aftermath of a pump that did not report at the end that it is off. Before the first check every
    /// tested pump has reported that it is off.
    private static func notOff(_ bench: Bench, _ reason: String) -> Aftermath {
        bench.mayHaveRun ? .perhapsOn(reason) : .unread(reason)
    }

    /// The state of a pump that was sent OFF.
    private enum StateBehindOff: Equatable {
        /// The status says `State:OFF`.
        case off
        /// The pump acknowledged OFF, but its status could not be read.
        case acknowledged
        /// The status names another state.
        case named(String)
        /// The pump did not acknowledge OFF, and its status could not be read.
        case silent

        var reason: String {
            switch self {
            case .off: "the pump is off"
            case .acknowledged: "the pump acknowledged OFF, but its state could not be read"
            case .named(let state): "the pump was sent OFF, but its status says \(state)"
            case .silent: "the pump has not acknowledged OFF"
            }
        }
    }

    /// The least time between the beginnings of two attempts to switch the pump off. If the pump does not answer, an
    /// attempt takes longer: twice ``VerificationOptions/timeout``, since it waits for two replies.
    private static let stopInterval = Duration.milliseconds(500)
    /// The time between two calls of ``Bench/tellUnsafe``.
    private static let reportInterval = Duration.seconds(5)

    /// Repeats OFF until the status says that the pump is off, or until `time` is up. Once OFF was acknowledged, the
    /// time is at most ``VerificationOptions/unsafeLimit``. Sets ``Bench/mayHaveRun`` if the status says that the pump
    /// is on. Returns ``StateBehindOff/off``, or the last known state when the time was up.
    private static func switchOff(_ bench: Bench, within time: Duration) async throws -> StateBehindOff {
        let start = bench.elapsed
        var (deadline, nextReport, state) = (start + time, start + reportInterval, StateBehindOff.silent)
        repeat {
            let next = bench.elapsed + stopInterval
            // A line end precedes OFF: without it, OFF would become a part of a half-sent line, and be lost.
            try await bench.send("\nOFF\n")
            let isAcknowledged = try await hears(["PUMP:OFF"], bench) != nil
            try await bench.send("STATUS\n", isQuestion: true)
            let name = try await hears(["STATUS:"], bench).flatMap { StatusLine($0)?.state }
            if name == "OFF" { return .off }
            // The pump runs, whatever the checks intended.
            if name == "ON" { bench.mayHaveRun = true }
            if let name { state = .named(name) } else if isAcknowledged { state = .acknowledged }
            if isAcknowledged { deadline = min(deadline, start + bench.options.unsafeLimit) }
            if bench.elapsed >= nextReport {
                bench.tellUnsafe(state.reason)
                nextReport = bench.elapsed + reportInterval
            }
            while try await bench.line(by: next) != nil {}
        } while bench.elapsed < deadline
        return state
    }

    /// Returns the next line with one of these beginnings, and skips other lines; nil if none comes within the timeout.
    private static func hears(_ beginnings: [String], _ bench: Bench) async throws -> String? {
        let deadline = bench.elapsed + bench.options.timeout
        while let line = try await bench.line(by: deadline) {
            if beginnings.contains(where: line.text.hasPrefix) { return line.text }
        }
        return nil
    }
}
