public import LineProtocol

/// Tests a firmware over a link, check by check, and leaves the device safe.
///
/// A running pump is not tested, and is sent nothing but STATUS. Without ``VerificationOptions/mayRun`` no pump is
/// started.
///
/// ```swift
/// let verification = Verification(.pump, over: link, clock: ContinuousClock())
/// let verdict = try await verification.run { print($0.id, $0.outcome) }
/// ```
public struct Verification: Sendable {
    private let family: FamilyVerification
    private let checks: [Check]
    private let link: any Link
    private let clock: SessionClock
    private let options: VerificationOptions
    private let stimulus: (any Stimulus)?
    private let onRun: @Sendable () -> Void
    private let tellUnsafe: @Sendable (String) -> Void

    /// Creates a verification, which ``run(_:)`` starts.
    ///
    /// - Parameters:
    ///   - family: The family whose checks are made.
    ///   - link: The link to the device. The caller must not use the link during the verification, and closes it
    ///     afterwards.
    ///   - checks: The checks to make; nil means all checks of the family.
    ///   - clock: The clock for deadlines and measured times.
    ///   - options: Permissions and time limits.
    ///   - stimulus: Physical access to the device. Without it some checks are skipped.
    ///   - onRun: Called once at most: before the part that the device drives may run for the first time, or when the
    ///     device reports that this part runs.
    ///   - tellUnsafe: Called every few seconds while OFF is repeated to a device that may still run, with the reason.
    public init(
        _ family: FamilyVerification, over link: any Link, checks: [Check]? = nil, clock: any Clock<Duration>,
        options: VerificationOptions = VerificationOptions(), stimulus: (any Stimulus)? = nil,
        onRun: @escaping @Sendable () -> Void = {}, tellUnsafe: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.family = family
        self.link = link
        self.checks = checks ?? family.checks
        self.clock = SessionClock(clock)
        self.options = options
        self.stimulus = stimulus
        self.onRun = onRun
        self.tellUnsafe = tellUnsafe
    }

    /// The number of results: one for each check and round.
    public var count: Int { checks.count * options.rounds }

    /// Makes all checks, and then makes the device safe, however the checks end and even if the task is cancelled.
    ///
    /// - Parameter tell: Called with each result, in order, ``count`` times. `tell` may block: a device that a check
    ///   may have left running is sent OFF first.
    /// - Returns: The verdict. A failure of the stimulus or the link during a check ends the verification, and is
    ///   reported in ``FirmwareVerdict/ending``.
    /// - Throws: ``VerificationError`` if the device must not be tested. `LinkError`, or an error of the stimulus, if
    ///   one of them fails before the first check. Until then the device is sent only queries; but with
    ///   ``VerificationOptions/maySend``, a phone is sent a test message, and the stimulus writes one on the phone.
    public func run(_ tell: (CheckResult) -> Void) async throws -> FirmwareVerdict {
        let bench = makeBench()
        var verdict = FirmwareVerdict()
        let start = bench.elapsed
        var last: Made?
        switch try await family.begin(bench) {
        case .ready: last = await runAll(bench, &verdict, tell)
        case .unusable(let failure):
            last = checks.first.map {
                Made(check: $0, outcome: .failed(expected: failure.expected, got: failure.got), bench, since: start)
            }
            verdict.ending = .unusable
        }
        // Make the device safe before reporting: `tell` may block.
        verdict.aftermath = await end(bench)
        verdict.timings = bench.timings
        if let last { report(last, &verdict, tell) }
        skipRest(&verdict, tell)
        return verdict
    }

    private func makeBench(mayHaveRun: Bool = false) -> Bench {
        Bench(
            link, clock: clock, options: options, stimulus: stimulus, framing: family.framing,
            isUnasked: family.isUnasked, mayHaveRun: mayHaveRun, onRun: onRun, tellUnsafe: tellUnsafe)
    }

    // MARK: Checks

    /// The findings of a check that was made or skipped.
    private struct Made {
        let check: Check
        let outcome: CheckResult.Outcome
        var variants: [String] = []
        var steps: [CheckResult.Step] = []
        var time: Duration?

        /// Creates the findings of a check that was not made.
        init(skipping check: Check, _ reason: String) { (self.check, outcome) = (check, .skipped(reason: reason)) }

        init(check: Check, outcome: CheckResult.Outcome, _ bench: Bench, since start: Duration) {
            (self.check, self.outcome) = (check, outcome)
            (variants, steps, time) = (bench.variants, bench.steps, bench.elapsed - start)
        }
    }

    /// Makes the checks, and sets the reason why they end.
    ///
    /// - Returns: The check that ended the verification; nil if none did. This check is not reported yet, because the
    ///   device may still run.
    private func runAll(_ bench: Bench, _ verdict: inout FirmwareVerdict, _ tell: (CheckResult) -> Void) async -> Made?
    {
        let limit = bench.elapsed + options.limit(hasStimulus: stimulus != nil)
        for round in 1...options.rounds {
            for check in checks {
                guard bench.elapsed < limit else {
                    verdict.ending = .timeIsUp
                    return nil
                }
                if let reason = reasonToSkip(check) ?? basisThatFailed(check, round, verdict) {
                    report(Made(skipping: check, reason), &verdict, tell)
                    continue
                }
                let (made, ending) = await run(check, bench)
                if let ending {
                    verdict.ending = ending
                    return made
                }
                report(made, &verdict, tell)
            }
        }
        return nil
    }

    /// Returns the reason to skip a check whose needs are not met; nil if they are met.
    private func reasonToSkip(_ check: Check) -> String? {
        var reasons: [String] = []
        if check.needs.contains(.run), !options.mayRun {
            reasons.append(options.reason("needs permission to run \(family.driven)", .run))
        }
        if check.needs.contains(.send), !options.maySend {
            reasons.append(options.reason("needs permission to send messages that the device stores", .send))
        }
        if check.needs.contains(.stimulus), stimulus == nil {
            reasons.append(options.reason("needs a stimulus", .stimulus))
        }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    /// Returns the reason to skip a check of which a prerequisite has failed in this round; nil if none has.
    private func basisThatFailed(_ check: Check, _ round: Int, _ verdict: FirmwareVerdict) -> String? {
        let basis = family.basis(of: check.id)
        return verdict.results.first { $0.isFailure && $0.round == round && basis.contains($0.id) }
            .map { "depends on \($0.id), which failed" }
    }

    /// Makes a check, and calls the family's `finish` or `recover` after it. Also returns the reason why no further
    /// check can be made; nil if there is none.
    private func run(_ check: Check, _ bench: Bench) async -> (Made, FirmwareVerdict.Ending?) {
        let start = bench.elapsed
        var (outcome, ending) = (CheckResult.Outcome.passed, FirmwareVerdict.Ending?.none)
        do {
            try await bench.beginCheck(check.id)
            try await check.body(bench)
            try await family.finish(check, bench)
        } catch let failure as CheckFailure {
            outcome = .failed(expected: failure.expected, got: failure.got)
            ending = await recover(bench)
        } catch let skip as CheckSkip {
            outcome = .skipped(reason: skip.reason)
            // The check may have skipped itself while the device was running.
            if check.needs.contains(.run) { ending = await recover(bench) }
        } catch {
            ending = Self.ending(of: error)
            outcome = Self.outcome(of: ending, wasBegun: !bench.steps.isEmpty)
        }
        return (Made(check: check, outcome: outcome, bench, since: start), ending)
    }

    /// Calls the family's `recover`. Returns the reason why no further check can be made; nil if there is none.
    private func recover(_ bench: Bench) async -> FirmwareVerdict.Ending? {
        do { return try await family.recover(bench) ? nil : .unusable } catch { return Self.ending(of: error) }
    }

    /// Returns the ending for an error in a check. An error that is neither one of the link nor a cancellation comes
    /// from the stimulus.
    private static func ending(of error: any Error) -> FirmwareVerdict.Ending {
        switch error {
        case let error as LinkError where error.code != .cancelled: .lost(error)
        case is LinkError, is CancellationError: .interrupted
        default: Task.isCancelled ? .interrupted : .stimulusFailed(error)
        }
    }

    /// Returns the outcome of the check during which the verification ended. A broken link counts as a failure, because
    /// the crash of a firmware can break its link.
    private static func outcome(of ending: FirmwareVerdict.Ending?, wasBegun: Bool) -> CheckResult.Outcome {
        guard case .lost(let error) = ending else { return .skipped(reason: reason(ending)) }
        return .failed(
            expected: "the link stays open",
            got: "the link broke\(wasBegun ? "" : " before this check sent anything"): \(error)")
    }

    private static func reason(_ ending: FirmwareVerdict.Ending?) -> String {
        switch ending {
        case .unusable: "the device does not answer as expected, so no further check was made"
        case .timeIsUp: "the time limit for all checks was reached"
        case .interrupted: "interrupted"
        case .lost: "the link broke"
        case .stimulusFailed: "the stimulus failed"
        case .complete, nil: "not made"
        }
    }

    // MARK: Results

    private func report(_ made: Made, _ verdict: inout FirmwareVerdict, _ tell: (CheckResult) -> Void) {
        let result = CheckResult(
            id: made.check.id, rule: made.check.rule, round: verdict.results.count / checks.count + 1,
            outcome: made.outcome, variants: made.variants, steps: made.steps, time: made.time)
        verdict.results.append(result)
        tell(result)
    }

    /// Reports the checks that were not made, in all rounds, as skipped.
    private func skipRest(_ verdict: inout FirmwareVerdict, _ tell: (CheckResult) -> Void) {
        while verdict.results.count < count {
            let check = checks[verdict.results.count % checks.count]
            report(Made(skipping: check, Self.reason(verdict.ending)), &verdict, tell)
        }
    }

    // MARK: The end

    /// Makes the device safe. Runs in a separate task, so that a cancelled verification still switches the device off.
    private func end(_ bench: Bench) async -> Aftermath {
        guard bench.hasInterfered else { return .untouched }
        let (mayHaveRun, memory) = (bench.mayHaveRun, bench.memory)
        return await Task(executorPreference: link.executor) {
            let bench = makeBench(mayHaveRun: mayHaveRun)
            bench.memory = memory
            return await family.end(bench)
        }.value
    }
}
