import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import Transports

/// `off`: gets OFF to the pump by whatever way there is, and returns once the pump was read to be off.
struct SwitchingOff {
    /// How often a device is tried that another pumpctl has, which does not listen for OFF: most are done in no time.
    private static let retryInterval = Duration.milliseconds(50)

    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    /// - Throws: `Failure`, which says that the pump may be on.
    func run() async throws {
        context.lastWords.set("pumpctl: given up: the pump may be on")
        defer { context.lastWords.set(nil) }
        do {
            try await switchOff(by: context.clock.now.advanced(by: context.timeout))
        } catch let failure as Failure {
            throw failure.sayingOffWasNotSent
        } catch let error as LinkError {
            throw Failure(error).sayingOffWasNotSent
        } catch let error as SessionError {
            throw Failure(off: error, at: context.place).sayingOffWasNotSent
        } catch is CancellationError {
            // Another pumpctl may have been asked to send it.
            var failure = Failure(
                .interrupted, code: "cancelled", "interrupted; the pump may be on", hint: "repeat it: pumpctl off",
                outcome: "unknown")
            failure.mustBeSaid = true
            throw failure
        }
    }

    private func switchOff(by deadline: ContinuousClock.Instant) async throws {
        var endpoint = try context.endpoint()
        // That a phone or another program listens as well must not keep OFF from the pump.
        if endpoint.scheme == "ble", endpoint.options["shared"] == nil { endpoint = endpoint.adding("shared", "true") }
        guard let opened = try await open(endpoint, by: deadline) else { return }
        let reconnector = context.reconnector(
            endpoint, opened, looksNow: false, for: .oneCommand, note: context.output.note)
        // To look for what tells the device from others takes time: OFF goes first.
        let link = ReportingLink(opened, clock: context.clock, lookAround: reconnector.look) { _ in }
        do {
            try await switchOff(over: link, endpoint)
        } catch let error as SessionError where error.code == .linkLost && context.clock.now < deadline {
            context.output.note("pumpctl: \(error.link.map { "\($0)" } ?? "the link is lost"); opening it again")
            guard let again = await open(again: reconnector, by: deadline) else { throw error }
            try await switchOff(over: again, endpoint)
        }
    }

    private func switchOff(over link: any Link, _ endpoint: Endpoint) async throws {
        let time = link.mayHaveReset ? max(context.timeout, PumpSession.startTime) : context.timeout
        try await context.withPump(over: link, endpoint, isStop: true) { pump in
            do throws(SessionError) { try await turnOff(pump, timeout: time) } catch {
                // Its state was asked for already.
                guard error.code != .linkLost else { throw error }
                var failure = Failure(off: error, at: context.place)
                if error.code == .noAnswer, let silence = link.silenceHint, let hint = failure.hint {
                    failure.hint = "\(hint); \(silence)"
                }
                throw failure
            }
        }
    }

    /// An interruption does not end it: the pump would be left on.
    private func turnOff(_ pump: PumpSession, timeout: Duration) async throws(SessionError) {
        let result = await withTaskCancellationHandler {
            do throws(SessionError) {
                try await pump.turnOff(timeout: timeout)
                return Result<Void, SessionError>.success(())
            } catch {
                return .failure(error)
            }
        } onCancel: { [output = context.output] in
            output.note("pumpctl: OFF is sent until it is answered; to give up, interrupt once more")
        }
        try result.get()
    }

    /// Opens a link that was lost, if that can be done in time.
    private func open(again reconnector: Reconnector, by deadline: ContinuousClock.Instant) async -> (any Link)? {
        let opening = Task(executorPreference: context.loop) { try await reconnector.link() }
        let timer = Task(executorPreference: context.loop) { [clock = context.clock] in
            if (try? await clock.sleep(until: deadline)) != nil { opening.cancel() }
        }
        defer { timer.cancel() }
        do { return try await opening.value } catch {
            if let error = error as? LinkError { context.output.note("pumpctl: \(error)", hint: error.hint) }
            return nil
        }
    }

    /// Opens the link; nil where another pumpctl has the device and has switched it off.
    private func open(_ endpoint: Endpoint, by deadline: ContinuousClock.Instant) async throws -> (any Link)? {
        while true {
            do {
                // Better late than never: what has not been opened can't be sent OFF.
                return try await context.openLink(
                    endpoint, for: .oneCommand, isBounded: false, note: context.output.note)
            } catch let error as LinkError where error.code == .busy {
                let rest = context.clock.now.duration(to: deadline)
                if let deviceID = error.deviceID,
                    let answer = await OffRequest.send(
                        for: deviceID, within: answerTime(of: error.holder), on: context.loop)
                {
                    try take(answer, of: error.holder)
                    return nil
                }
                // One that can't be named has just come or gone.
                guard error.holder?.isPumpctl ?? true, rest > .zero else { throw error }
                try await context.clock.sleep(for: Self.retryInterval)
            }
        }
    }

    /// How long the other pumpctl's answer is waited for: it may have to wait for a board that starts.
    private func answerTime(of holder: LinkHolder?) -> Duration {
        holder?.isStopped == true ? .seconds(1) : max(context.timeout, PumpSession.startTime) + .seconds(1)
    }

    private func take(_ answer: OffAnswer, of holder: LinkHolder?) throws {
        let name = holder.map { "\($0)" } ?? "another pumpctl"
        switch answer {
        case .off: if context.options.verbose { context.output.note("* \(name) has the device, and has sent OFF") }
        case .failed(let told):
            var failure = Failure(told)
            failure.message = "\(name) has the device: \(failure.message)"
            if failure.status == .unavailable, let holder {
                failure.hint =
                    holder.isStopped
                    ? "resume it: kill -CONT \(holder.processID); or end it: kill -KILL \(holder.processID)"
                    : "end it: kill \(holder.processID)"
            }
            throw failure
        }
    }
}

extension LinkHolder {
    /// Whether it is this program, as another process.
    fileprivate var isPumpctl: Bool {
        var (other, own) = (stat(), stat())
        guard stat("/proc/self/exe", &own) == 0 else { return false }
        // Another user's program can't be looked at: its name has to do.
        guard stat("/proc/\(processID)/exe", &other) == 0 else { return command == "pumpctl" }
        return other.st_dev == own.st_dev && other.st_ino == own.st_ino
    }

    /// Whether it was stopped, as by Ctrl-Z.
    fileprivate var isStopped: Bool {
        guard let status = TextFile.contents(of: "/proc/\(processID)/stat"), let name = status.lastIndex(of: ")") else {
            return false
        }
        return ["T", "t"].contains(status[name...].dropFirst(2).prefix(1))
    }
}
