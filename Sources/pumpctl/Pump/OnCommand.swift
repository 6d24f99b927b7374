import ArgumentParser
import LineProtocol

struct OnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Start the pump at 70 %, or put it back to that and restart its 30 minutes.",
        discussion: "With --for the pump is switched off again at the end, and at Ctrl-C.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("0 to 255, or 0% to 100%.", valueName: "speed"))
    var speed: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, as 90s or 10m; 30m at most.", valueName: "time"))
    var time: SecondsArgument?

    func validate() throws {
        if let speed, SpeedArgument(argument: speed) == nil {
            throw ValidationError("'\(speed)' is not a speed: \(SpeedArgument.rule)")
        }
        if let time, time.duration > PumpState.maximumRuntime {
            throw ValidationError("the pump stops by itself after 30 minutes: give --for a time of 30m at most")
        }
    }

    func run() throws {
        let speed = speed.flatMap { SpeedArgument(argument: $0)?.speed }
        let time = time?.duration
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump) { context in
            try await context.withPump(isBrief: time == nil) { pump in
                let events = await pump.events()
                do {
                    try await pump.turnOn(timeout: context.timeout)
                    if let speed { try await pump.setSpeed(speed, timeout: context.timeout) }
                    let speed = speed ?? .initial
                    context.output.result(
                        "pump on at \(speed.percent) % (PWM \(speed.pwm))", PumpChangeRecord(on: speed))
                    guard let time else { return }
                    try await TimedRun(pump, context, events).last(for: time)
                } catch {
                    // With --for the pump must not run on after us, however the run ends.
                    guard time != nil else { throw error }
                    try await TimedRun.switchOff(pump, context, after: error)
                }
            }
        }
    }
}

/// `on --for`: waits, watching for the pump to stop by itself, and switches it off.
private struct TimedRun {
    private let pump: PumpSession
    private let context: CommandContext
    private let events: AsyncStream<SessionEvent<PumpMessage>>

    init(_ pump: PumpSession, _ context: CommandContext, _ events: AsyncStream<SessionEvent<PumpMessage>>) {
        self.pump = pump
        self.context = context
        self.events = events
    }

    func last(for time: Duration) async throws {
        let clock = context.clock
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: context.loop) { try await clock.sleep(for: time) }
            group.addTask(executorPreference: context.loop) { try await watch() }
            try await group.next()
            group.cancelAll()
        }
        try await pump.turnOff(timeout: context.timeout)
        context.output.result("pump off", PumpChangeRecord(on: nil))
    }

    /// Ends only by throwing: the pump was stopped by itself or by its button, or the link is lost.
    private func watch() async throws {
        for await event in events {
            switch event {
            case .heard(.error(let code)) where code.isUnsolicited:
                throw Failure(
                    .refused, code: "stopped", "the pump was stopped for safety: \(code.rawValue)",
                    hint: "'pumpctl off' leaves that state", deviceCode: code.rawValue)
            case .heard(.manual(isOn: false)):
                throw Failure(.refused, code: "stopped", "the pump was switched off by its button")
            case .lost(let error):
                var failure = Failure(error)
                failure.message += "; the pump runs on until its 30 minutes are over"
                throw failure
            default: break
            }
        }
        try Task.checkCancellation()
    }

    /// Switches the pump off after a failure, in a task that the failure's cancellation does not reach.
    static func switchOff(_ pump: PumpSession, _ context: CommandContext, after error: any Error) async throws -> Never
    {
        if let failure = error as? Failure, failure.status == .ioError { throw failure }
        let off = Task(executorPreference: context.loop) { try await pump.turnOff(timeout: context.timeout) }
        do {
            try await off.value
            context.output.result("pump off", PumpChangeRecord(on: nil))
        } catch {
            context.output.note("pumpctl: the pump could not be switched off: it may still run")
            throw error
        }
        throw error
    }
}
