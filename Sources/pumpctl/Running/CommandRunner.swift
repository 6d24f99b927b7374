import ArgumentParser
import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import RecordFormat
import Terminal

/// Runs the asynchronous part of a command.
enum CommandRunner {
    /// Runs `body` on an event loop on this thread. A signal that would end the program cancels `body` instead, so that
    /// `body` can close its link; a second signal ends the program.
    ///
    /// The command is also cancelled if writing to standard output fails. SIGPIPE is ignored for that: it would end the
    /// program before the command has made the device safe. After `body`, reports a failure, ends the recording and the
    /// capture, and waits for the output to be written.
    ///
    /// - Parameters:
    ///   - family: The family of the command; nil for the family of the options. Another family in the options is a
    ///     usage error.
    ///   - records: The part of the command that is recorded if recording is on.
    ///   - endsBeforeSuspension: Whether Ctrl-Z cancels `body` too. The process then stops, and exits when it is
    ///     resumed.
    ///   - isStop: Whether the command switches the device off. Such a command does not wait until its capture is open.
    /// - Throws: `ExitCode` if the exit status is not 0. The caller reports nothing more.
    static func run(
        _ options: SharedOptions, for family: Family? = nil, records: CommandContext.RecordedContent = .lines,
        endsBeforeSuspension: Bool = false, isStop: Bool = false,
        _ body: @Sendable @escaping (CommandContext) async throws -> Void
    ) throws {
        try runToStatus(
            options, for: family, records: records, endsBeforeSuspension: endsBeforeSuspension, isStop: isStop
        ) { context in
            try await body(context)
            return ExitStatus.done.rawValue
        }
    }

    /// Runs a `body` that returns the program's exit status, which applies if nothing failed.
    static func runToStatus(
        _ options: SharedOptions, for family: Family? = nil, records: CommandContext.RecordedContent = .lines,
        endsBeforeSuspension: Bool = false, isStop: Bool = false,
        _ body: @Sendable @escaping (CommandContext) async throws -> Int32
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        let output = Output(isJSON: options.json)
        if let family, let named = options.family, family != named {
            var failure = Failure(
                .usage, code: "usage", "this command is for the family \(family), and --family names \(named)",
                hint: named == .raw
                    ? "use a command for any device, e.g. pumpctl --family raw console"
                    : "omit --family")
            if isStop { failure.sayThatOffWasNotSent() }
            output.report(failure)
            throw ExitCode(failure.status.rawValue)
        }
        let family = family ?? options.deviceFamily
        let configuration = Result { () throws(UserConfigurationError) in try UserConfiguration.load() }
        let flaw = tell(of: configuration, output)
        let status = EventLoop.run { loop in
            let capture: Capture?
            do throws(Failure) {
                capture = try await Capture.begin(options, family, isStop: isStop, output, loop)
            } catch {
                output.report(error)
                return error.status.rawValue
            }
            let context = CommandContext(
                options: options, family: family, loop: loop, output: output, configuration: configuration,
                records: records, record: SharedRecording(of: family.name, on: loop), capture: capture,
                work: InterruptibleWork(endsBeforeSuspension: endsBeforeSuspension))
            let status = await run(body, context, isStop: isStop, told: flaw)
            if status == context.work.exitStatus { context.work.endProcess() }
            return status
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Waits until the buffered output has been written. Without a signal, the wait has no limit, as in other programs;
    /// after a signal, it ends within a second.
    private static func deliver(_ context: CommandContext) async {
        let interval = Duration.milliseconds(20)
        var rest = Duration.seconds(1)
        while StreamWriter.areStalled, rest > .zero {
            try? await context.clock.sleep(for: interval)
            if context.work.exitStatus != nil { rest -= interval }
        }
        if rest <= .zero { StreamWriter.abandon() }
        // Writing the pending output may have failed. An empty write updates `output.failure`.
        context.output.draw("")
    }

    /// Warns about an invalid configuration, even if this command ignores it.
    ///
    /// - Returns: The message if the configuration can't be used; nil otherwise. A command that needs the configuration
    ///   fails with the same message.
    private static func tell(
        of configuration: Result<UserConfiguration, UserConfigurationError>, _ output: Output
    ) -> String? {
        switch configuration {
        case .success(let configuration):
            for warning in configuration.warnings { output.note("pumpctl: \(warning)") }
            return nil
        case .failure(let error):
            let failure = Failure(error)
            output.note(of: failure)
            return failure.message
        }
    }

    /// Runs `body` in its context, reports its failure, and returns the exit status.
    ///
    /// - Parameter told: The message on the configuration that was printed before the command ran; nil for none.
    private static func run(
        _ body: @Sendable @escaping (CommandContext) async throws -> Int32, _ context: CommandContext, isStop: Bool,
        told: String?
    ) async -> Int32 {
        let (work, output) = (context.work, context.output)
        output.onFailure { work.cancel() }
        let status = await work.run(on: context.loop) {
            try await body(context)
        } conclude: { result in
            let status = report(result, context, told: told)
            await context.record.end(result.map { _ in }, isInterrupted: work.exitStatus != nil)
            // A command that switches the device off must end even if the disk hangs.
            if await context.capture?.finish(within: isStop ? .seconds(2) : nil) == false {
                output.note("pumpctl: the capture is incomplete: the disk does not respond; the device is not affected")
            }
            await deliver(context)
            let conclusion = conclude(status, output)
            return conclusion == .done ? (try? result.get()) ?? conclusion.rawValue : conclusion.rawValue
        }
        if work.wasSuspended {
            output.note("pumpctl: Ctrl-Z has ended this command\n  hint: run it again: it does not continue")
        }
        // If a signal ended a simulator, a broken rule matters more than the signal.
        return status == ExitStatus.checkFailed.rawValue ? status : work.exitStatus ?? status
    }

    /// Reports the failure of a command.
    ///
    /// - Parameter told: The message that was printed before the command ran, and is not repeated; nil for none.
    private static func report(
        _ result: Result<Int32, any Error>, _ context: CommandContext, told: String?
    ) -> ExitStatus {
        guard case .failure(let error) = result else { return .done }
        let failure = Failure(of: error, context.family, at: context.place)
        // A signal or a failure of standard output explains a cancellation, which is then reported only if the outcome
        // is unknown or `mustBeSaid`. The same applies to the failure that the reader has gone.
        let isExplained = context.work.exitStatus != nil || context.output.failure != nil
        let isSilent = failure.status == .brokenPipe || failure.status == .interrupted && isExplained
        if failure.message == told {
            context.output.record(of: failure)
        } else if !isSilent || failure.outcome == "unknown" || failure.mustBeSaid {
            context.output.report(failure, exitCode: context.work.exitStatus)
        }
        return failure.status
    }

    /// Returns the exit status, and reports a failure of standard output. A failure of the command takes precedence,
    /// except a cancellation. A reader that has gone is reported only if it has missed an outcome: other programs stay
    /// silent, but nobody would know that the device was switched.
    ///
    /// - Parameter status: The exit status of the command.
    private static func conclude(_ status: ExitStatus, _ output: Output) -> ExitStatus {
        guard let errno = output.failure, status == .done || status == .interrupted else { return status }
        let failure = Failure(standardOutput: errno, outcome: output.lastOutcome)
        if failure.status != .brokenPipe || output.lastOutcome != nil { output.report(failure) }
        return failure.status
    }
}
