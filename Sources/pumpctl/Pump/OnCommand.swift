import ArgumentParser
import DeviceKit
import LineProtocol
import RecordFormat
import Terminal
import Transports

struct OnCommand: PumpContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract:
            "Start the pump at 70 %, or reset it to 70 % and restart its 30 minutes. The knob may set another speed.",
        discussion: """
            The firmware starts at 70 %. At the first start after power-on, and whenever the knob is turned, the \
            knob sets the speed a tenth of a second later; the printed speed was read after that. The knob of a \
            simulated pump is at 50 %; for 70 %, use pumpctl sim pump --knob 716, or sim:pump?knob=716.

            With --for, the pump is switched off at the end, and also if the run ends early: by a signal, Ctrl-Z, an unreliable \
            skin sensor, or three missing answers in succession. If the link is lost, pumpctl tries to reconnect and switch the pump off.
            """,
        example: "pumpctl --port /dev/ttyUSB0 on --speed 60% --for 10m")

    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("0 to 255, or 0% to 100%.", valueName: "speed"), transform: SpeedArgument.typed)
    var speed: PumpSpeed?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Run for this time, e.g. 90s or 10m, then switch off; 30m at most.", valueName: "time"),
        transform: runTime)
    var time: SecondsArgument?

    @Flag(
        name: .customLong("ignore-skin"),
        help: "With --for: keep running if the skin temperature is unreliable. For a pump that nobody wears.")
    var ignoresSkin = false

    func validate() throws {
        if ignoresSkin, time == nil { throw ValidationError("--ignore-skin needs --for") }
    }

    /// Parses the time of a run.
    ///
    /// - Throws: `ValidationError` with the accepted forms.
    private static func runTime(_ text: String) throws -> SecondsArgument {
        guard let time = SecondsArgument(argument: text), time.duration <= PumpState.maximumRuntime else {
            throw ValidationError(
                "use a number above 0, in seconds or with one unit, e.g. 90s or 10m; 30m at most: the pump stops itself then"
            )
        }
        return time
    }

    var endsBeforeSuspension: Bool { time != nil }

    func run(in context: CommandContext) async throws {
        if let time {
            return try await context.run(PumpRun.Plan(time: time.duration, speed: speed, ignoresSkin: ignoresSkin))
        }
        try await context.withPump { pump in
            try await pump.turnOn(timeout: context.timeout)
            if let speed {
                do throws(SessionError) { try await pump.setSpeed(speed, timeout: context.timeout) } catch {
                    // While the link is up, `withPump` adds the state of the pump to the error.
                    throw error.isSilence ? error : Failure(behindOn: error, at: context.place)
                }
            }
            let report: PumpOnReport
            do throws(SessionError) { report = try await PumpOnReport.read(pump, timeout: context.timeout) } catch {
                var failure = Failure(behindOn: error, at: context.place)
                // A reply that can't be understood may have been cut off by a reset, so it counts as no answer.
                if error.code == .notUnderstood { failure.status = .temporaryFailure }
                if error.isSilence, let status = try? await pump.readStatus(timeout: context.timeout) {
                    failure.message += CommandContext.words(status)
                }
                throw failure
            }
            if let failure = report.failure { throw failure }
            context.tell(report)
        }
    }
}

extension CommandContext {
    /// Runs the pump for a time, and reports the progress of the run. OFF of another program ends the run.
    fileprivate func run(_ plan: PumpRun.Plan) async throws {
        let endpoint = try endpoint()
        let stop = OffStop()
        let link = try await openLink(endpoint, for: .watching, onStop: stop.take, note: output.note)
        let reconnector = reconnector(endpoint, link, note: output.note)
        output.needsReader(on: loop)
        do {
            try await stop.run(on: loop) {
                try await withPump(over: link, endpoint) { pump in
                    // `withPump` has begun it if the run is to be recorded.
                    let recording = (try? recordChoice()) == true ? await record.begun { _ in } : nil
                    let run = PumpRun(
                        plan, timeout: timeout, clock: clock, executor: loop, reopen: reconnector.link
                    ) { tell($0, recording) }
                    do { try await run.run(pump) } catch let error as PumpRunError { throw Failure(error) }
                }
            }
        } catch let error where stop.wasTaken && error.isInterruption {
            // If ON may have been sent, a cancelled run switches the pump off, and then throws `CancellationError`.
            if error is CancellationError {
                throw Failure(.refused, code: "stopped", "another pumpctl has switched the pump off", outcome: "off")
            }
            throw Failure(
                .refused, code: "stopped", "another pumpctl asked for OFF before ON was sent",
                hint: "find out which program sent OFF; then repeat the command", outcome: "not_sent")
        }
    }

    /// Reports the progress of a run, and records the state of the running pump. From ON until OFF is confirmed or the
    /// pump is left alone, a second signal prints that the pump may be on.
    private func tell(_ report: PumpRun.Report, _ recording: Recording?) {
        switch report {
        case .begins: work.setLastWords(CommandContext.lastWordsOnPump)
        case .on(let report) where report.status == nil:
            output.note("pumpctl: ON was acknowledged, but the state of the pump could not be read; asking again")
        case .on(let report): if report.failure == nil { tell(report) }
        case .runs(let state):
            recording?.record(.reading(kind: "state", Reading(PumpFamily.values(of: state), of: PumpFamily.row)))
        case .leftAlone: work.setLastWords(nil)
        case .off:
            work.setLastWords(nil)
            tellOff()
        case .offUnanswered, .lost, .overrun: report.note.map(output.note)
        }
    }

    /// Reports that the pump is on.
    fileprivate func tell(_ report: PumpOnReport) {
        output.outcome(report.text, report.record)
        if let status = report.status { warn(of: status) }
    }
}

extension Failure {
    /// Creates the failure for an error after the pump had acknowledged ON, while its speed was set or its state was
    /// read.
    fileprivate init(behindOn error: SessionError, at place: DevicePlace?) {
        self.init(error, .pump, at: place)
        message += "; the pump acknowledged ON, and its state is now unknown"
        // A signal does not explain that the pump runs.
        mustBeSaid = true
        // The outcome of the command that followed ON is not the outcome of ON.
        guard error.outcome != .unknown else { return }
        outcome = "acknowledged"
        guard let question = Family.pump.questionWords else { return }
        hint = [hint, "ask for its state: \(question)"].compactMap(\.self).joined(separator: "; then ")
    }
}

extension SessionError {
    /// Whether the link is up, but the pump did not answer, or refused or answered with an unexpected line.
    fileprivate var isSilence: Bool { [.noAnswer, .notUnderstood, .refused].contains(code) }
}

extension Error {
    /// Whether the error only means that the command was cancelled.
    var isInterruption: Bool { Failure(of: self).status == .interrupted }
}
