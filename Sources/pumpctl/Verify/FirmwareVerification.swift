import DeviceKit
import LineProtocol
import Terminal
import Verification

/// A verification of a firmware: opens the link, runs the checks, prints the report, and tries to switch a pump off
/// even if the link breaks.
struct FirmwareVerification: Sendable {
    let family: FamilyVerification
    let checks: [Check]
    let options: VerificationOptions
    /// The control socket for actions at the device; nil to skip the checks that need one.
    let stimulus: SocketStimulus?
    let context: CommandContext

    /// Runs the checks, makes the device safe, and prints the report.
    ///
    /// - Returns: The program's exit status.
    func run(_ report: ReportPrinter) async throws -> ExitStatus {
        let endpoint = try context.endpoint(ofOneOf: FamilyVerification.all.map(\.family))
        try await stimulus?.check(isAt: endpoint)
        let stop = OffStop()
        let link = try await context.openLink(
            endpoint, for: .watching, onStop: stop.take, note: context.output.note)
        let result = VerdictBox()
        do {
            try await withCleanup({ await link.close() }) {
                try await stop.run(on: context.loop) { result.verdict = try await verify(link, report) }
            }
        } catch let error as VerificationError {
            throw Failure(error)
        }
        guard let verdict = result.verdict else { throw CancellationError() }
        let (aftermath, offFailure) = await safeAftermath(verdict)
        context.work.setLastWords(nil)
        // A report must not look better than the exit code: a green report means that the checks were completed.
        if let error: any Error = Self.unsafeEnding(aftermath, offFailure, of: verdict, isPump: isPump)
            ?? error(of: verdict, aftermath, isStopped: stop.wasTaken)
        {
            report.end(verdict, Abandonment(Failure(of: error, context.family, at: context.place)))
            throw error
        }
        let isLate = if case .timeIsUp = verdict.ending { true } else { false }
        report.end(
            verdict,
            isLate ? Abandonment(code: "time_is_up", message: "the time limit for all checks was reached") : nil)
        return verdict.isPassed ? .done : .checkFailed
    }

    private func verify(_ link: any Link, _ report: ReportPrinter) async throws -> FirmwareVerdict {
        let verification = Verification(
            family, over: link, checks: checks, clock: context.clock, options: options, stimulus: stimulus
        ) { [work = context.work, isPump] in
            if isPump { work.setLastWords(CommandContext.lastWordsOnPump) }
        } tellUnsafe: { [output = context.output] reason in
            output.note("pumpctl: \(reason.printable()); the pump may be on: OFF is sent again")
        }
        return try await verification.run { result in
            report.begin(count: verification.count)
            report.print(result)
        }
    }

    // MARK: The end

    /// Determines the final state of the device. If a pump should be off, and its status over the link did not confirm
    /// that, sends OFF by any available way, even if the pump has acknowledged OFF.
    ///
    /// - Returns: The final state, and the failure of this last OFF; nil if there is none.
    private func safeAftermath(_ verdict: FirmwareVerdict) async -> (Aftermath, Failure?) {
        let (reason, mayRun): (String, Bool)
        switch verdict.aftermath {
        case .untouched, .safe, .harmless: return (verdict.aftermath, nil)
        // Only a pump has other ways to OFF.
        case _ where !isPump: return (verdict.aftermath, nil)
        case .unread(let text): (reason, mayRun) = (text, false)
        case .perhapsOn(let text): (reason, mayRun) = (text, true)
        }
        context.output.note(
            "pumpctl: \(reason.printable()); \(mayRun ? "the pump may be on: " : "")OFF is sent again")
        // Use a task of its own, because a signal may have ended the checks, and has then cancelled this task.
        return await Task(executorPreference: context.loop) {
            do { try await context.switchPumpOff(lastWords: mayRun ? CommandContext.lastWordsOnPump : nil) } catch {
                return (verdict.aftermath, error as? Failure)
            }
            return (.safe, nil)
        }.value
    }

    private var isPump: Bool { family.family == FamilyVerification.pump.family }

    /// Returns the failure of a verification after which the device was not confirmed to be off; nil if the device was
    /// confirmed to be off, received only queries, or is ``Aftermath/harmless``.
    ///
    /// - Parameter isPump: Whether the device is a pump. Of all other devices, only a peer can be left on.
    static func unsafeEnding(
        _ aftermath: Aftermath, _ offFailure: Failure?, of verdict: FirmwareVerdict, isPump: Bool
    ) -> Failure? {
        let status: ExitStatus = if case .lost = verdict.ending { .ioError } else { .temporaryFailure }
        var failure: Failure
        switch aftermath {
        case .untouched, .safe, .harmless: return nil
        case .unread(let reason):
            failure = Failure(
                status, code: "off_failed", "\(reason); the pump was off before the checks, and ON was not sent",
                hint: "ask for its state: pumpctl status", outcome: "unknown")
        case .perhapsOn(let reason):
            let part = isPump ? "the pump" : "the output of the peer"
            failure = offFailure ?? Failure(status, code: "off_failed", "\(reason); \(part) may be on")
            (failure.status, failure.code, failure.outcome) = (status, "off_failed", "unknown")
            // A failed check counts more than the missing answer to OFF, but not more than a broken link.
            if status == .temporaryFailure, verdict.failedCount > 0 { failure.status = .checkFailed }
            failure.hint = isPump ? Failure.offByHand : "switch the output off: pumpctl peer toggle off"
        }
        failure.mustBeSaid = true
        return failure
    }

    /// Returns the error that ended the checks early; nil if there was none. An unusable device and the time limit end
    /// the checks early too, but are no errors.
    private func error(of verdict: FirmwareVerdict, _ aftermath: Aftermath, isStopped: Bool) -> (any Error)? {
        switch verdict.ending {
        case .lost(let error):
            var failure = Failure(error)
            if aftermath == .safe {
                (failure.message, failure.outcome) = (failure.message + "; the pump is off", "off")
            }
            return failure
        case .interrupted where isStopped:
            let isOff = aftermath == .safe
            return Failure(
                .refused, code: "stopped", "another pumpctl has \(isOff ? "switched the pump off" : "asked for OFF")",
                hint: "find out which program sent OFF; then repeat the command", outcome: isOff ? "off" : nil)
        case .interrupted: return CancellationError()
        case .stimulusFailed(let error): return error
        case .complete, .unusable, .timeIsUp: return nil
        }
    }
}

/// Holds the verdict of a task that returns nothing.
private final class VerdictBox: @unchecked Sendable {
    // @unchecked: only the task writes it, and the reader awaits the task first.
    var verdict: FirmwareVerdict?
}

extension Failure {
    /// Creates the failure for a pump that was not tested. The pump received no command but STATUS.
    init(_ error: VerificationError) {
        switch error {
        case .running:
            self.init(
                .unavailable, code: "pump_runs", "\(error)",
                hint: "make sure that nobody wears the pump, then switch it off: pumpctl off",
                outcome: "not_sent")
        case .stoppedForSafety:
            self.init(
                .stoppedForSafety, code: "stopped", "\(error)",
                hint: "find out why the pump was stopped, then leave the error state: pumpctl off", outcome: "not_sent")
        }
    }
}
