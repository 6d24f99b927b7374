import LineProtocol

extension FamilyVerification {
    /// The pump, by docs/protocols.md.
    public static let pump = FamilyVerification(
        family: "pump",
        checks: [
            statusChecks, commandChecks, lineChecks, speedChecks, timingChecks, bootChecks, runChecks, runSpeedChecks,
            resetChecks, unaskedChecks, buttonChecks, knobChecks, runtimeChecks, safetyChecks, motorChecks,
            temperatureChecks,
        ].flatMap(\.self),
        begin: PumpCare.begin, finish: PumpCare.finish, recover: PumpCare.recover, end: PumpCare.end,
        isUnasked: PumpCare.isUnasked, basis: pumpBasis)

    /// Each check of a running pump ends with OFF, and all but the first and those of ON and the button begin with ON.
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

/// How a pump is treated: it is not touched where it runs, and is off behind each check and at the end.
enum PumpCare {
    /// What runs, or ran until a fault stopped it, is somebody's.
    ///
    /// An older answer, which a server has kept or somebody else has asked for, must not be taken for this pump's: what has
    /// come is left out, and the pump has to be off by two answers, the second to a question behind a silence.
    static func begin(_ bench: Bench) async throws -> FamilyVerification.Readiness {
        if bench.link.mayHaveReset {
            bench.bootLines = []
        } else {
            try await bench.leaveOutArrived()
        }
        let first = try await readOff(bench, within: bench.startPatience)
        guard case .ready = first else { return first }
        // What was asked while a board started waits in its UART, and is answered too.
        try await takeLateAnswers(bench)
        return try await readOff(bench, within: bench.options.timeout * 2)
    }

    /// Asks until the pump says that it is off.
    private static func readOff(
        _ bench: Bench, within patience: Duration
    ) async throws -> FamilyVerification.Readiness {
        let deadline = bench.elapsed + patience
        var last: String?
        while bench.elapsed < deadline {
            // No line end before it: that would make a command of what somebody else has half sent.
            try await bench.send("STATUS\n", isQuestion: true)
            let next = min(bench.elapsed + bench.options.timeout, deadline)
            while let line = try await bench.line(by: next) {
                last = line.bytes.shown
                guard line.text.hasPrefix("STATUS:") else {
                    bench.bootLines?.append(line)
                    continue
                }
                // Also in a line that is otherwise wrong.
                if line.text.uppercased().contains("STATE:ON") { throw VerificationError.running }
                let state = StatusLine(line.text)?.state
                if state == "ERROR" { throw VerificationError.stoppedForSafety }
                if state == "OFF" { return .ready }
            }
        }
        let got = last ?? "no answer in \(patience.inSeconds) s"
        return .unusable(CheckFailure(expected: "STATUS:{State:OFF,…} in answer to STATUS", got: got))
    }

    /// Takes what still comes of questions; the pump is not touched if it runs after all, or somebody has switched it on
    /// meanwhile.
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

    /// Asks for the state; what came before the answer is too much. A pump that runs is switched off, and should run only
    /// where that was wanted.
    static func finish(_ check: Check, _ bench: Bench) async throws {
        let state = try await bench.status().state
        let mayRun = check.needs.contains(.run)
        if state != "OFF" {
            guard mayRun else {
                throw CheckFailure(expected: "the pump stays off", got: "State:\(state ?? "") after it")
            }
            try await bench.ask("OFF", "OK", "PUMP:OFF")
            let after = try await bench.status().state
            try require(after == "OFF", "State:OFF after OFF", got: "State:\(after ?? "")")
        }
    }

    static func recover(_ bench: Bench) async throws -> Bool {
        let isHeated = bench.hasActed(on: "temperature skin")
        // Nothing is waited for before OFF, least of all a stimulus.
        if bench.mayHaveRun || isHeated { try await bench.send("\nOFF\n") }
        // What is on its way of a late reply must not be taken for the next one.
        try await bench.drain(quiet: .milliseconds(300), limit: .seconds(2))
        if isHeated { try await bench.act("temperature", "skin", "34") }
        switch try await switchOff(bench, within: bench.options.timeout * 2) {
        // A pump whose status can't be read, or is in its error state, is tested on: each check says what it finds.
        case .off, .acknowledged, .named("ERROR"): return true
        case .named, .silent: return false
        }
    }

    static func end(_ bench: Bench) async -> Aftermath {
        let limit = bench.mayHaveRun ? bench.options.offLimit : bench.options.timeout * 2
        do {
            let state = try await switchOff(bench, within: limit)
            return state == .off ? .safe : notOff(bench, state.reason)
        } catch {
            return notOff(bench, "\(error)")
        }
    }

    /// Nothing but a pump that was read to be off is tested.
    private static func notOff(_ bench: Bench, _ reason: String) -> Aftermath {
        bench.mayHaveRun ? .perhapsOn(reason) : .unread(reason)
    }

    /// The state of a pump that was sent OFF.
    private enum StateBehindOff: Equatable {
        /// Its status says `State:OFF`.
        case off
        /// It has acknowledged OFF, and its status could not be read.
        case acknowledged
        /// Its status names another state.
        case named(String)
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

    /// The time between two OFFs.
    private static let stopInterval = Duration.milliseconds(500)
    /// The time between two reports of a pump that is not off.
    private static let reportInterval = Duration.seconds(5)

    /// Repeats OFF until the pump's status says that it is off.
    private static func switchOff(_ bench: Bench, within time: Duration) async throws -> StateBehindOff {
        let start = bench.elapsed
        var (deadline, nextReport, state) = (start + time, start + reportInterval, StateBehindOff.silent)
        repeat {
            let next = bench.elapsed + stopInterval
            // A line end before it: what may be half sent must not swallow it.
            try await bench.send("\nOFF\n")
            let isAcknowledged = try await hears(["PUMP:OFF"], bench) != nil
            try await bench.send("STATUS\n", isQuestion: true)
            let name = try await hears(["STATUS:"], bench).flatMap { StatusLine($0)?.state }
            if name == "OFF" { return .off }
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

    /// The next line that begins so, whatever comes before it.
    private static func hears(_ beginnings: [String], _ bench: Bench) async throws -> String? {
        let deadline = bench.elapsed + bench.options.timeout
        while let line = try await bench.line(by: deadline) {
            if beginnings.contains(where: line.text.hasPrefix) { return line.text }
        }
        return nil
    }
}
