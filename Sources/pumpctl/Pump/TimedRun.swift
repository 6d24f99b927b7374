import LineProtocol
import Synchronization

/// A run of the pump that ends with it off, whatever ends the run.
///
/// It knows nothing of programs, ports and terminals: what it needs of them is handed in, so that ten thousand runs can be
/// tried in simulated time.
struct TimedRun: Sendable {
    /// What is wanted.
    struct Plan: Sendable {
        /// How long the pump is to run.
        var time: Duration
        /// The speed to set; nil to leave it at what the pump starts with.
        var speed: PumpSpeed?
        /// Whether it runs on where the skin's temperature can't be relied on: on a bench, worn by nobody.
        var ignoresSkin = false
    }

    /// What the run tells of while it goes on.
    enum Report: Sendable {
        case on(PumpOnReport)
        case off
        /// Something that the person should know now.
        case note(String)
        /// What is to be said if the program is ended before the pump is off.
        case lastWords(String?)
    }

    /// How often the pump is asked for its state, as the phone app does.
    static let pollInterval = Duration.seconds(5)
    /// The time between two attempts to get a lost device back.
    private static let regainInterval = Duration.seconds(1)

    let plan: Plan
    /// How long each answer is waited for.
    let timeout: Duration
    let clock: any Clock<Duration>
    /// What the run's tasks run on.
    let executor: any TaskExecutor
    /// Tells of what happens.
    let tell: @Sendable (Report) -> Void
    /// Opens a link to the same device as soon as that can be done; throws `LinkError.Code.disconnected` where it never can.
    let reopen: @Sendable () async throws -> any Link

    // MARK: The run

    /// Switches the pump on, and off when the time is over. Returns where the pump was read to be off.
    ///
    /// - Throws: Why the run ended before its time, or the pump may be on.
    func run(_ session: PumpSession) async throws {
        let watch = SessionClock(clock)
        var isOn = false
        let ending: RunEnding
        do throws(SessionError) {
            tell(.lastWords("pumpctl: given up: the pump may be on"))
            try await session.turnOn(timeout: timeout)
            isOn = true
            let events = await session.events()
            if let speed = plan.speed { try await session.setSpeed(speed, timeout: timeout) }
            let report = try await PumpOnReport.read(session, timeout: timeout)
            tell(.on(report))
            ending = await wait(events, session, after: report)
        } catch {
            ending = await Self.ending(of: error, session, isOn: isOn)
        }
        try await conclude(ending, session, isOn: isOn, watch)
    }

    /// What a command of the beginning that failed means for the run.
    private static func ending(
        of error: SessionError, _ session: PumpSession, isOn: Bool
    ) async -> RunEnding {
        if !isOn, error.outcome == .notSent { return .notBegun(error) }
        if error.deviceCode == PumpErrorCode.pumpStartFailed.rawValue { return .latched(error) }
        if await session.state.power == .error { return .stoppedForSafety(await session.state.error) }
        if error.code == .linkLost, let link = error.link, isOn || link.isGone { return .lost(link) }
        return error.code == .cancelled ? .cancelled : .failed(error)
    }

    /// Waits for what ends the run.
    private func wait(
        _ events: AsyncStream<SessionEvent<PumpMessage>>, _ session: PumpSession, after report: PumpOnReport
    ) async -> RunEnding {
        let (endings, ending) = AsyncStream.makeStream(of: RunEnding.self)
        let tasks = [
            Task(executorPreference: executor) {
                if (try? await clock.sleep(for: plan.time)) != nil { ending.yield(.timeIsUp) }
            },
            Task(executorPreference: executor) {
                for await event in events { if let found = await look(at: event, session) { ending.yield(found) } }
            },
            Task(executorPreference: executor) {
                if let found = await look(at: report, session) { ending.yield(found) }
                while (try? await clock.sleep(for: Self.pollInterval)) != nil {
                    if let found = await poll(session) { ending.yield(found) }
                }
            },
        ]
        defer { for task in tasks { task.cancel() } }
        return await withTaskCancellationHandler {
            for await first in endings { return first }
            return .cancelled
        } onCancel: {
            ending.yield(.cancelled)
        }
    }

    // MARK: What ends it

    private func look(at report: PumpOnReport, _ session: PumpSession) async -> RunEnding? {
        guard let status = report.status else { return nil }
        return await look(at: status, session)
    }

    private func look(at event: SessionEvent<PumpMessage>, _ session: PumpSession) async -> RunEnding? {
        switch event {
        case .heard(.error(let code)) where code.isUnsolicited: return .stoppedForSafety(code)
        case .heard(.manual(isOn: false)): return .button
        case .heard(.status(let status)): return await look(at: status, session)
        // It may be an echo of the past: the pump is asked.
        case .heard(.pump(isOn: false)): return await poll(session)
        case .lost(let error): return .lost(error)
        default: return nil
        }
    }

    /// One reading may be damaged on its way: the second counts.
    private func look(at status: PumpStatus, _ session: PumpSession) async -> RunEnding? {
        let isBad =
            status.power != .on && status.power != .unknown || !plan.ignoresSkin && status.skinFaultWhileOn != nil
        return isBad ? await poll(session) : nil
    }

    private func poll(_ session: PumpSession) async -> RunEnding? {
        guard let status = try? await session.readStatus(timeout: timeout) else { return nil }
        switch status.power {
        case .error: return .stoppedForSafety(await session.state.error)
        case .off: return .foundOff
        case .on, .unknown: break
        }
        guard !plan.ignoresSkin, let fault = status.skinFaultWhileOn else { return nil }
        return .skin(fault, status)
    }

    // MARK: The end

    private func conclude(
        _ ending: RunEnding, _ session: PumpSession, isOn: Bool, _ watch: SessionClock
    ) async throws {
        if let failure = ending.failureOfPumpLeftAlone {
            // It was not touched, or stands still in a state that tells why: to leave that is for a person to decide.
            tell(.lastWords(nil))
            throw failure
        }
        var lost: LinkError?
        if case .lost(let error) = ending {
            lost = error
        } else {
            lost = try await switchOff(session, ending, isOn: isOn, watch)
        }
        if let lost {
            // A link that only failed to send still has the device: it would stand in its own way.
            await session.close()
            try await regain(after: lost, watch)
        }
        tell(.lastWords(nil))
        tell(.off)
        try ending.rethrow()
    }

    /// Switches the pump off; where the link is lost over it, returns how. A pump that was seen to run is not left to itself
    /// because it does not answer: it is told again until its own 30 minutes are over.
    private func switchOff(
        _ session: PumpSession, _ ending: RunEnding, isOn: Bool, _ watch: SessionClock
    ) async throws -> LinkError? {
        var isNoted = false
        while true {
            do throws(SessionError) {
                try await session.turnOff(timeout: timeout)
                return nil
            } catch {
                if error.code == .linkLost, let link = error.link, isOn || link.isGone { return link }
                guard isOn, error.code != .closed, watch.elapsed() < PumpState.maximumRuntime else {
                    var failure = Failure(off: error)
                    if case .failed(let first) = ending {
                        failure.message = "\(Failure(first, .pump, unknownEffect: nil).message); \(failure.message)"
                    }
                    throw failure
                }
                if !isNoted {
                    tell(.note("pumpctl: \(Failure(off: error).message); OFF is sent again until it answers"))
                }
                isNoted = true
            }
        }
    }

    /// Gets the device back and switches the pump off, until its own 30 minutes are over. Runs in a task of its own, which
    /// the signal that has ended the run does not reach.
    private func regain(after error: LinkError, _ watch: SessionClock) async throws {
        let regaining = Task(executorPreference: executor) { await regain(watch) }
        // Behind it: a terminal that takes no more must not keep it from beginning.
        tell(.note("pumpctl: \(error); the pump may be on. Reconnecting to switch it off; a second signal gives up"))
        switch await regaining.value {
        case .off: return
        case .timeIsUp:
            var failure = Failure(error)
            failure.message += "; the device has not come back, and the pump's own 30 minutes are over"
            failure.outcome = "unknown"
            throw failure
        case .never(let reason):
            var failure = Failure(reason)
            failure.message += "; the pump may be on"
            failure.outcome = "unknown"
            throw failure
        }
    }

    private enum Regaining {
        case off
        case timeIsUp
        /// The device can't come back.
        case never(LinkError)
    }

    private func regain(_ watch: SessionClock) async -> Regaining {
        while watch.elapsed() < PumpState.maximumRuntime {
            do {
                if await switchOff(over: try await openAgain(watch)) { return .off }
            } catch let error as LinkError where error.code == .disconnected {
                return .never(error)
            } catch {
                // It is tried again.
            }
            try? await clock.sleep(for: Self.regainInterval)
        }
        return .timeIsUp
    }

    private func openAgain(_ watch: SessionClock) async throws -> any Link {
        let opening = Task(executorPreference: executor) { try await reopen() }
        let timer = Task(executorPreference: executor) {
            if (try? await watch.sleep(PumpState.maximumRuntime)) != nil { opening.cancel() }
        }
        defer { timer.cancel() }
        return try await opening.value
    }

    private func switchOff(over link: any Link) async -> Bool {
        guard let session = try? await PumpSession.begin(over: link, clock: clock, waitsUntilReady: false) else {
            return false
        }
        let time = link.mayHaveReset ? max(timeout, PumpSession.startTime) : timeout
        let isOff = (try? await session.turnOff(timeout: time)) != nil
        await session.close()
        return isOff
    }
}

extension LinkError {
    /// Whether the far end is gone, rather than a single send refused.
    fileprivate var isGone: Bool { code == .disconnected || code == .closed }
}
