/// What a pump said and did in one step of a script.
struct PumpRecord: Sendable {
    /// Lines heard before the acts were answered, those of the input among them; then those before the asks were.
    var acts: [String]
    var asks: [String]
    /// What the motor is driven with at the end.
    var motor: Motor
}

extension PumpRecord {
    /// Whether two pumps are alike in this: the same lines in the same order, and the same motor.
    ///
    /// A running pump's status report may come unasked on either side, at a moment that is its own affair. What
    /// was asked for has to be there on both sides, and alike.
    func isLike(_ other: PumpRecord, askedFor statuses: Int) -> Bool {
        motor == other.motor && Self.comparable(acts) == Self.comparable(other.acts)
            && Self.comparable(asks) == Self.comparable(other.asks)
            && (statuses == 0 || Self.answer(asks) == Self.answer(other.asks))
    }

    /// Lines without reports, and without the words of a banner that are each board's own.
    private static func comparable(_ lines: [String]) -> [String] {
        lines.map(withoutCutReport).withoutReports.map { line in
            if !line.isEmpty, line.allSatisfy({ $0 == "=" }) { return "=" }
            return ["Device: ", "Version: "].first { line.hasPrefix($0) } ?? line
        }
    }

    /// The first line of a banner without the beginning of a report that the reset has cut off.
    private static func withoutCutReport(_ line: String) -> String {
        let rule = line.reversed().prefix { $0 == "=" }.count
        let cut = line.dropLast(rule)
        guard rule > 0, !cut.isEmpty, "STATUS:".hasPrefix(cut.prefix("STATUS:".count)) else { return line }
        return String(line.suffix(rule))
    }

    /// The last report: what comes unasked behind the answer, within the same turn or two, says the same.
    private static func answer(_ lines: [String]) -> String? { lines.last { $0.hasPrefix("STATUS:") } }
}

extension PumpScript {
    /// Does all of it to a pump.
    func play(on rig: any PumpRig) async throws -> [PumpRecord] {
        let line = try await PumpLine.open(rig)
        var time = try await rig.lifetime()
        var records: [PumpRecord] = []
        for step in steps {
            try await apply(step.input, to: rig)
            let acts = try await line.exchange(step.acts.bytes, temperatures: step.acts.temperatures)
            try await wait(until: time + Self.askingTime, on: rig)
            let asks = try await line.exchange(step.asks.bytes, temperatures: step.asks.temperatures)
            records.append(PumpRecord(acts: acts, asks: asks, motor: try await rig.motor()))
            time += Self.stepTime
            try await wait(until: time, on: rig)
        }
        await line.close()
        return records
    }

    private func wait(until time: Duration, on rig: any PumpRig) async throws {
        let rest = time - (try await rig.lifetime())
        if rest > .zero { try await rig.run(for: rest) }
    }

    private func apply(_ input: Step.Input, to rig: any PumpRig) async throws {
        switch input {
        case .nothing: break
        case .button: try await rig.pressButton()
        case .reset: try await rig.reset()
        case .skin(let celsius): try await rig.setSkin(celsius)
        case .water(let celsius): try await rig.setWater(celsius)
        case .potentiometer(let reading): try await rig.setPotentiometer(reading)
        case .later(let time): try await rig.moveClock(by: time)
        }
    }
}
