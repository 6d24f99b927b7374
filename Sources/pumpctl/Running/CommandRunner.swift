import ArgumentParser
import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import RecordFormat
import Terminal

/// Runs the asynchronous part of a command to its end.
enum CommandRunner {
    /// Runs `body` on an event loop on this thread, for the family that the command is of, or else the options name.
    /// A signal that would end the program cancels it, so that it can close its link; a second one ends the program.
    ///
    /// A command whose standard output takes no more is cancelled. SIGPIPE is ignored for that: it would end the program
    /// before the command has put the device in order.
    ///
    /// - Parameters:
    ///   - records: What is recorded of it, where that is asked for.
    ///   - endsBeforeSuspension: Whether Ctrl-Z ends it too: it stops, and when it goes on it is over.
    ///   - isStop: Whether it switches the device off, which nothing may keep it from.
    /// - Throws: `ExitCode` where the command failed; the failure was reported.
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

    /// The same for a `body` that returns the exit status of the program, which counts where nothing failed.
    static func runToStatus(
        _ options: SharedOptions, for family: Family? = nil, records: CommandContext.RecordedContent = .lines,
        endsBeforeSuspension: Bool = false, isStop: Bool = false,
        _ body: @Sendable @escaping (CommandContext) async throws -> Int32
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        let output = Output(isJSON: options.json)
        if let family, let named = options.family, family != named {
            let failure = Failure(
                .usage, code: "usage", "this command is for the family \(family), and --family says \(named)",
                hint: named == .raw
                    ? "a device of no family has no such command: see what it says by 'pumpctl --family raw console'"
                    : "omit --family")
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
            return await run(body, context, isStop: isStop, told: flaw)
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Waits until the standard streams have taken what was written: as long as that takes, as other programs do, or for a
    /// second once a signal has come.
    private static func deliver(_ context: CommandContext) async {
        let interval = Duration.milliseconds(20)
        var rest = Duration.seconds(1)
        while StreamWriter.areStalled, rest > .zero {
            try? await context.clock.sleep(for: interval)
            if context.work.exitStatus != nil { rest -= interval }
        }
        if rest <= .zero { StreamWriter.abandon() }
        // What was kept may have failed.
        context.output.draw("")
    }

    /// Tells of what is wrong with the configuration, also if the command does without it.
    ///
    /// - Returns: The message of a configuration that can't be used. A command that needs one fails by it.
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
            // Whoever switches the device off is told so, also where the disk hangs.
            if await context.capture?.finish(within: isStop ? .seconds(2) : nil) == false {
                output.note("pumpctl: the capture is not whole: the disk has not answered; the device is not affected")
            }
            await deliver(context)
            let conclusion = conclude(status, output)
            return conclusion == .done ? (try? result.get()) ?? conclusion.rawValue : conclusion.rawValue
        }
        if work.wasSuspended {
            output.note("pumpctl: Ctrl-Z has ended this command\n  hint: run it again: it does not go on")
        }
        // A signal may well end a simulator whose verdict says more.
        return status == ExitStatus.checkFailed.rawValue ? status : work.exitStatus ?? status
    }

    /// Says why a command has failed.
    ///
    /// - Parameter told: The message that people have read before the command ran.
    private static func report(
        _ result: Result<Int32, any Error>, _ context: CommandContext, told: String?
    ) -> ExitStatus {
        guard case .failure(let error) = result else { return .done }
        let failure = Failure(of: error, context.family, at: context.place)
        // What was cancelled needs no word on it, unless it leaves something open.
        let isExplained = context.work.exitStatus != nil || context.output.failure != nil
        let isSilent = failure.status == .brokenPipe || failure.status == .interrupted && isExplained
        if failure.message == told {
            context.output.record(of: failure)
        } else if !isSilent || failure.outcome == "unknown" || failure.mustBeSaid {
            context.output.report(failure, exitCode: context.work.exitStatus)
        }
        return failure.status
    }

    /// The status of a command whose standard output may have failed. A failure of the command itself counts for more. As
    /// with other programs, not a word is said of a reader who has gone.
    private static func conclude(_ status: ExitStatus, _ output: Output) -> ExitStatus {
        guard let errno = output.failure, status == .done || status == .interrupted else { return status }
        let failure = Failure(standardOutput: errno, outcome: output.lastOutcome)
        if failure.status != .brokenPipe { output.report(failure) }
        return failure.status
    }
}
