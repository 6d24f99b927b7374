import ArgumentParser
import BlueZ
import DescriptorIO
import DeviceKit
import FirmwareSim
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
    /// - Throws: `ExitCode` where the command failed; the failure was reported.
    static func run(
        _ options: SharedOptions, for family: Family? = nil, records: RecordedContent = .lines,
        endsBeforeSuspension: Bool = false,
        _ body: @Sendable @escaping (CommandContext) async throws -> Void
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        let output = Output(isJSON: options.json)
        if let family, let named = options.family, family != named {
            let failure = Failure(
                .usage, code: "usage", "this command is for the family \(family), and --family says \(named)",
                hint: "omit --family")
            output.report(failure)
            throw ExitCode(failure.status.rawValue)
        }
        let family = family ?? options.deviceFamily
        tellOfConfiguration(output)
        let status = EventLoop.run { loop in
            let context = CommandContext(
                options: options, family: family, loop: loop, output: output, records: records,
                record: SharedRecording(of: family.name, on: loop))
            return await run(body, context, endsBeforeSuspension: endsBeforeSuspension)
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Warns of what is wrong with the configuration, also where the command does without it. Where the command needs it,
    /// it fails by itself.
    private static func tellOfConfiguration(_ output: Output) {
        do throws(Failure) {
            for warning in try Configuration.load().warnings { output.note("pumpctl: \(warning)") }
        } catch {
            output.note("pumpctl: warning: \(error.message.printable())", hint: error.hint?.printable())
        }
    }

    private static func run(
        _ body: @Sendable @escaping (CommandContext) async throws -> Void, _ context: CommandContext,
        endsBeforeSuspension: Bool
    ) async -> Int32 {
        // A job in the background goes on where it writes to the terminal or asks for its settings.
        if endsBeforeSuspension { for stop in [SIGTTIN, SIGTTOU] { signal(stop, SIG_IGN) } }
        let task = Task(executorPreference: context.loop) { try await body(context) }
        let interruption = Interruption(task, context.lastWords)
        let ending = SignalSource.endingSignals + (endsBeforeSuspension ? [SIGTSTP] : [])
        let signals = try? await SignalSource.open(ending, on: context.loop) { interruption.take($0) }
        context.output.onFailure { task.cancel() }
        var status = ExitStatus.done
        let result = await task.result
        do {
            try result.get()
        } catch {
            let failure = failure(for: error, context)
            status = failure.status
            // What was cancelled needs no word on it, unless it leaves something open.
            let isExplained = interruption.status != nil || context.output.failure != nil
            let isSilent = status == .brokenPipe || status == .interrupted && isExplained
            if !isSilent || failure.outcome == "unknown" || failure.mustBeSaid { context.output.report(failure) }
        }
        await context.record.end(result, isInterrupted: interruption.status != nil)
        status = conclude(status, context.output)
        TerminalSettings.restore()
        if interruption.isSuspension {
            kill(getpid(), SIGSTOP)
            context.output.note("pumpctl: Ctrl-Z has ended this command\n  hint: run it again: it does not go on")
        }
        await signals?.close()
        return interruption.status ?? status.rawValue
    }

    /// The status of a command whose standard output may have failed. A failure of the command itself counts for more. As
    /// with other programs, not a word is said of a reader who has gone.
    private static func conclude(_ status: ExitStatus, _ output: Output) -> ExitStatus {
        guard let errno = output.failure, status == .done || status == .interrupted else { return status }
        let failure = Failure(standardOutput: errno, outcome: output.lastOutcome)
        if failure.status != .brokenPipe { output.report(failure) }
        return failure.status
    }

    private static func failure(for error: any Error, _ context: CommandContext) -> Failure {
        switch error {
        case let error as LinkError: Failure(error)
        case let error as SessionError: Failure(error, context.family, at: context.place)
        case let error as BLEError: Failure(error)
        case let error as RescueStoreError: Failure(error)
        case let error as PeerImageFileError: Failure(error)
        case is CancellationError: Failure(.interrupted, code: "cancelled", "interrupted")
        default: Failure(of: error)
        }
    }
}
