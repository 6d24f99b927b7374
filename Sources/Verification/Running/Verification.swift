public import LineProtocol

/// Tests a firmware over a link, check by check, and leaves the device safe.
///
/// A pump that runs is refused, with nothing sent but STATUS. None is started without ``VerificationOptions/mayRun``.
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

    /// A verification that has not begun.
    ///
    /// - Parameters:
    ///   - link: To the device. It stays the caller's, and nobody else may use it meanwhile.
    ///   - checks: Which checks are made; all of the family where it is nil.
    ///   - clock: What times are measured by, and waited by.
    ///   - stimulus: Hands at the device; nil where there are none, so that some checks are skipped.
    ///   - onRun: Called once, before what the device drives may run for the first time.
    public init(
        _ family: FamilyVerification, over link: any Link, checks: [Check]? = nil, clock: any Clock<Duration>,
        options: VerificationOptions = VerificationOptions(), stimulus: (any Stimulus)? = nil,
        onRun: @escaping @Sendable () -> Void = {}
    ) {
        self.family = family
        self.link = link
        self.checks = checks ?? family.checks
        self.clock = SessionClock(clock)
        self.options = options
        self.stimulus = stimulus
        self.onRun = onRun
    }

    /// How many results there will be.
    public var count: Int { checks.count * options.rounds }

    /// Makes all checks. However they end, and also where the task is cancelled, the device is switched off before it returns.
    ///
    /// - Parameter tell: Called with each result, in order, ``count`` times.
    /// - Throws: ``VerificationError``: the device is not tested. `LinkError`: it could not be asked, and was sent nothing but
    ///   a question. What ``Stimulus`` throws ends the verification, and is in its verdict.
    public func run(_ tell: (CheckResult) -> Void) async throws -> FirmwareVerdict {
        let bench = makeBench()
        var verdict = FirmwareVerdict()
        let start = bench.elapsed
        switch try await family.begin(bench) {
        case .ready: await runAll(bench, &verdict, tell)
        case .unusable(let failure):
            verdict.ending = .unusable
            report(
                checks.prefix(1), .failed(expected: failure.expected, got: failure.got), bench, &verdict, tell,
                time: bench.elapsed - start)
        }
        skipRest(bench, &verdict, tell)
        verdict.timings = bench.timings
        verdict.aftermath = await end(bench)
        return verdict
    }

    private func makeBench(mayHaveRun: Bool = false) -> Bench {
        Bench(
            link, clock: clock, options: options, stimulus: stimulus, framing: family.framing,
            isUnasked: family.isUnasked, mayHaveRun: mayHaveRun, onRun: onRun)
    }

    // MARK: Checks

    private func runAll(_ bench: Bench, _ verdict: inout FirmwareVerdict, _ tell: (CheckResult) -> Void) async {
        let limit = bench.elapsed + options.limit(hasStimulus: stimulus != nil)
        for round in 1...options.rounds {
            for check in checks {
                guard bench.elapsed < limit else { return verdict.ending = .timeIsUp }
                if let reason = reasonToSkip(check) ?? basisThatFailed(check, round, verdict) {
                    report([check], .skipped(reason: reason), nil, &verdict, tell)
                } else if let ending = await run(check, bench, &verdict, tell) {
                    return verdict.ending = ending
                }
            }
        }
    }

    private func reasonToSkip(_ check: Check) -> String? {
        if check.needs.contains(.run), !options.mayRun {
            return options.reason("needs leave to run \(family.driven)", .run)
        }
        if check.needs.contains(.send), !options.maySend {
            return options.reason("needs leave to send messages that are kept", .send)
        }
        if check.needs.contains(.stimulus), stimulus == nil { return options.reason("needs a stimulus", .stimulus) }
        return nil
    }

    private func basisThatFailed(_ check: Check, _ round: Int, _ verdict: FirmwareVerdict) -> String? {
        let basis = family.basis(of: check.id)
        return verdict.results.first { $0.isFailure && $0.round == round && basis.contains($0.id) }
            .map { "\($0.id) has failed, on which it rests" }
    }

    /// Makes a check; returns why no further one can be made, if so.
    private func run(
        _ check: Check, _ bench: Bench, _ verdict: inout FirmwareVerdict, _ tell: (CheckResult) -> Void
    ) async -> FirmwareVerdict.Ending? {
        let start = bench.elapsed
        var (outcome, ending) = (CheckResult.Outcome.passed, FirmwareVerdict.Ending?.none)
        do {
            try await bench.beginCheck(check.id)
            try await check.body(bench)
            try await family.finish(check, bench)
        } catch let failure as CheckFailure {
            outcome = .failed(expected: failure.expected, got: failure.got)
            do { if try await !family.recover(bench) { ending = .unusable } } catch { ending = Self.ending(of: error) }
        } catch let skip as CheckSkip {
            outcome = .skipped(reason: skip.reason)
        } catch {
            ending = Self.ending(of: error)
            outcome = .skipped(reason: Self.reason(ending))
        }
        report([check], outcome, bench, &verdict, tell, time: bench.elapsed - start)
        return ending
    }

    private static func ending(of error: any Error) -> FirmwareVerdict.Ending {
        switch error {
        case let error as LinkError where error.code != .cancelled: .lost(error)
        case is LinkError, is CancellationError: .interrupted
        default: Task.isCancelled ? .interrupted : .stimulusFailed(error)
        }
    }

    private static func reason(_ ending: FirmwareVerdict.Ending?) -> String {
        switch ending {
        case .unusable: "the device does not answer as it should, and is sent nothing more"
        case .timeIsUp: "the time for all checks is over"
        case .interrupted: "interrupted"
        case .lost: "the link broke"
        case .stimulusFailed: "the stimulus failed"
        case .complete, nil: "not made"
        }
    }

    // MARK: Results

    private func report(
        _ checks: some Sequence<Check>, _ outcome: CheckResult.Outcome, _ bench: Bench?,
        _ verdict: inout FirmwareVerdict,
        _ tell: (CheckResult) -> Void, time: Duration? = nil
    ) {
        for check in checks {
            let result = CheckResult(
                id: check.id, paragraph: check.paragraph, round: verdict.results.count / self.checks.count + 1,
                outcome: outcome, variants: bench?.variants ?? [], steps: bench?.steps ?? [], time: time)
            verdict.results.append(result)
            tell(result)
        }
    }

    private func skipRest(_ bench: Bench, _ verdict: inout FirmwareVerdict, _ tell: (CheckResult) -> Void) {
        while verdict.results.count < count {
            let check = checks[verdict.results.count % checks.count]
            report([check], .skipped(reason: Self.reason(verdict.ending)), nil, &verdict, tell)
        }
    }

    // MARK: The end

    /// Makes the device safe, in a task of its own, which the signal that has ended the verification does not reach.
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
