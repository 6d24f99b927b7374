public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A run of the pump that switches it off at the end, whether the end is the run's time, an error, the loss of the
/// link, or the cancellation of the task.
///
/// The run has no knowledge of programs, ports and terminals. The caller passes in all dependencies, so that tests can
/// try ten thousand runs in simulated time.
///
/// ```swift
/// let endpoint = try Endpoint("/dev/ttyUSB0")
/// let link = try await LinkSchemes.families.open(endpoint)
/// let reconnector = Reconnector(endpoint, link)
/// let pump = try await PumpSession.begin(over: link, clock: ContinuousClock())
/// let run = PumpRun(PumpRun.Plan(time: .seconds(600)), reopen: reconnector.link)
/// // Close the link even after an error: another program may have to switch the pump off.
/// do { try await run.run(pump) } catch { print(error) }
/// await pump.close()
/// ```
public struct PumpRun: Sendable {
    /// The parameters of a run.
    public struct Plan: Sendable {
        /// The duration of the run, from the first reading of the state after ON was acknowledged. The firmware stops
        /// the pump after 30 minutes.
        public var time: Duration
        /// The speed to set; nil to keep the speed with which the pump starts.
        public var speed: PumpSpeed?
        /// Whether the run goes on if the skin temperature can't be relied on: for a pump on a bench that nobody wears.
        public var ignoresSkin: Bool

        /// Creates a plan.
        public init(time: Duration, speed: PumpSpeed? = nil, ignoresSkin: Bool = false) {
            self.time = time
            self.speed = speed
            self.ignoresSkin = ignoresSkin
        }
    }

    /// An occurrence during the run.
    public enum Report: Sendable {
        /// ON is about to be sent. From now on the pump may be on, and the program must not end before the run.
        case begins
        /// ON was acknowledged, and then the state was read; the report is empty if that failed. The pump may have
        /// stopped again: see the status.
        case on(PumpOnReport)
        /// A status was read that says that the pump is on, at the beginning or in a poll.
        case runs(PumpState)
        /// The pump has not confirmed OFF. OFF is repeated until the pump confirms, or its own 30 minutes are over.
        case offUnanswered(SessionError)
        /// The link is lost, and the pump may be on. The run waits for the device in order to switch it off.
        case lost(LinkError)
        /// The pump is left as it is, without OFF: it was not switched on, or it has stopped in its error state.
        case leftAlone
        /// The pump has confirmed that it is off.
        case off
        /// The pump was off this long after the run's time was over: the program was stopped, the computer was suspended,
        /// the device was away, or OFF had to be repeated. Follows ``off``.
        case overrun(Duration)
    }

    /// The interval between polls of the state, as in the phone app.
    public static let pollInterval = Duration.seconds(5)
    /// The time before the end of the run at which the pump is polled once more; a pump answers within 250 ms. If the
    /// pump's board was reset since the last regular poll, the pump has not run to the end, and the run fails.
    public static let lastPoll = Duration.milliseconds(500)
    /// The longest time that switching off may take without a ``Report/overrun(_:)``; chosen, not measured.
    public static let overrunLimit = Duration.seconds(2)
    /// The number of failed polls that ends the run, if no good status and no temperatures arrive in between. A single
    /// answer may be lost in transit, but a pump in an unknown state must not run on. A good status is one that gives
    /// no reason to end the run.
    public static let unansweredLimit = 3
    /// The pause between two attempts to find a lost device again.
    private static let regainInterval = Duration.seconds(1)

    private let plan: Plan
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let reopen: @Sendable () async throws -> any Link
    private let tell: @Sendable (Report) -> Void
    /// The number of failed polls since the pump last sent a good status or its temperatures.
    private let unanswered = Count()

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - plan: The parameters of the run.
    ///   - timeout: The time-out of each command.
    ///   - clock: The clock for the run's time and for time-outs.
    ///   - executor: The executor of the run's tasks.
    ///   - reopen: Waits for the same device and opens a link to it, as ``Reconnector/link()`` does. Called after the
    ///     link is lost, and again after an error; not after `LinkError.Code.disconnected`, which means that the device
    ///     can't come back.
    ///   - tell: Called with each report, in order; must not block.
    public init(
        _ plan: Plan, timeout: Duration = PumpSession.defaultTimeout, clock: any Clock<Duration> = ContinuousClock(),
        executor: any TaskExecutor = EventLoop.shared, reopen: @escaping @Sendable () async throws -> any Link,
        tell: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.plan = plan
        self.timeout = timeout
        self.clock = clock
        self.executor = executor
        self.reopen = reopen
        self.tell = tell
    }

    /// The reason for the end of a run.
    private enum Ending: Sendable {
        case timeIsUp
        /// The task was cancelled.
        case cancelled
        case early(PumpRunError.Cause)
    }

    // MARK: The run

    /// Switches the pump on, and off when the time is over. Returns once the pump has confirmed that it is off.
    ///
    /// - Parameter session: A session with the pump. The caller closes it, also after an error.
    /// - Throws: ``PumpRunError``, with the reason for an early end and whether the pump may be on. `CancellationError`
    ///   if the task was cancelled once ON may have been sent; the pump is off then.
    public func run(_ session: PumpSession) async throws {
        let watch = SessionClock(clock)
        var running = watch
        var isOn = false
        let ending: Ending
        do throws(SessionError) {
            tell(.begins)
            try await session.turnOn(timeout: timeout)
            isOn = true
            let events = await session.events()
            if let speed = plan.speed { try await session.setSpeed(speed, timeout: timeout) }
            let report = try await report(of: session)
            tell(.on(report))
            if report.status?.power == .on { tell(.runs(await session.state)) }
            running = SessionClock(clock)
            ending = await wait(events, session, after: report, running)
        } catch {
            ending = await Self.ending(of: error, session, isOn: isOn)
        }
        // Throws unless the run's time was over.
        try await conclude(ending, session, isOn: isOn, watch)
        let overrun = running.elapsed() - plan.time
        if overrun > Self.overrunLimit { tell(.overrun(overrun)) }
    }

    /// Reads the state of the running pump. If the pump does not answer, answers wrongly or refuses, returns an empty
    /// report: the polls read the state again, and end the run if they keep failing.
    private func report(of session: PumpSession) async throws(SessionError) -> PumpOnReport {
        do throws(SessionError) { return try await PumpOnReport.read(session, timeout: timeout) } catch {
            guard [.noAnswer, .notUnderstood, .refused].contains(error.code) else { throw error }
            return PumpOnReport(status: nil, speed: nil)
        }
    }

    /// Returns the ending for the failure of a command at the beginning of the run.
    private static func ending(
        of error: SessionError, _ session: PumpSession, isOn: Bool
    ) async -> Ending {
        if !isOn, error.outcome == .notSent { return .early(.notBegun(error)) }
        if error.deviceCode == PumpErrorCode.pumpStartFailed.rawValue { return .early(.latched(error)) }
        if await session.state.power == .error { return .early(.stoppedForSafety(await session.state.error)) }
        // If only the write of ON was refused, the link may still carry OFF, so it does not count as lost.
        if error.code == .linkLost, let link = error.link, isOn || link.isGone { return .early(.lost(link)) }
        if error.code == .deviceAway { return .early(.lost(lossByServer(of: session))) }
        return error.code == .cancelled ? .cancelled : .early(.failed(error))
    }

    /// Waits for the first reason to end the run.
    private func wait(
        _ events: AsyncStream<SessionEvent<PumpMessage>>, _ session: PumpSession, after report: PumpOnReport,
        _ watch: SessionClock
    ) async -> Ending {
        let (endings, ending) = AsyncStream.makeStream(of: Ending.self)
        let tasks = [
            Task(executorPreference: executor) {
                if (try? await watch.sleep(plan.time)) != nil { ending.yield(.timeIsUp) }
            },
            Task(executorPreference: executor) {
                for await event in events {
                    if let found = await look(at: event, session) { ending.yield(.early(found)) }
                }
                // Somebody else has closed the session, so nobody would watch the pump any more.
                let name = session.link.name
                ending.yield(.early(.lost(LinkError(.closed, name: name, activity: "receive"))))
            },
            Task(executorPreference: executor) {
                if let found = await look(at: report, session) { ending.yield(.early(found)) }
                while (try? await watch.sleep(nextPoll(after: watch.elapsed()))) != nil {
                    if let found = await poll(session) { ending.yield(.early(found)) }
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

    /// Returns the time of the next poll. Both times count from the beginning of the run's duration.
    private func nextPoll(after now: Duration) -> Duration {
        let (next, last) = (now + Self.pollInterval, plan.time - Self.lastPoll)
        return now < last ? min(next, last) : next
    }

    // MARK: Reasons to end

    private func look(at report: PumpOnReport, _ session: PumpSession) async -> PumpRunError.Cause? {
        guard let status = report.status else { return nil }
        return await look(at: status, session)
    }

    private func look(at event: SessionEvent<PumpMessage>, _ session: PumpSession) async -> PumpRunError.Cause? {
        switch event {
        case .heard(.error(let code)) where code.isUnsolicited: return .stoppedForSafety(code)
        case .heard(.manual(isOn: false)): return .button
        case .heard(.status(let status)): return await look(at: status, session)
        case .heard(.temperatures):
            unanswered.reset()
            return nil
        // The line may be stale, so query the pump.
        case .heard(.pump(isOn: false)): return await poll(session)
        case .heard(let message) where PumpFamily.relayNotice(by: message) == .lost:
            return .lost(Self.lossByServer(of: session))
        case .lost(let error): return .lost(error)
        default: return nil
        }
    }

    /// Returns the reason to end the run after a status line; nil if there is none. A single line may be damaged in
    /// transit, so a line that shows a reason is checked with a query.
    private func look(at status: PumpStatus, _ session: PumpSession) async -> PumpRunError.Cause? {
        let isBad = status.power != .on || !plan.ignoresSkin && status.skinFaultWhileOn != nil
        if isBad { return await poll(session) }
        unanswered.reset()
        return nil
    }

    private func poll(_ session: PumpSession) async -> PumpRunError.Cause? {
        let status: PumpStatus
        do throws(SessionError) { status = try await session.readStatus(timeout: timeout) } catch {
            switch error.code {
            case .deviceAway: return .lost(Self.lossByServer(of: session))
            // Another event ends the run.
            case .cancelled, .closed, .overtaken: return nil
            // A single answer may be lost in transit, but a pump in an unknown state must not go on running.
            case .noAnswer, .notUnderstood, .refused, .linkLost, .unconfirmed, .notInEffect: return missed(error)
            }
        }
        switch status.power {
        case .error: return .stoppedForSafety(await session.state.error)
        case .off: return .foundOff
        case .on:
            unanswered.reset()
            tell(.runs(await session.state))
        case .unknown:
            if let cause = missed(SessionError(.notUnderstood, command: "STATUS", outcome: .unknown)) { return cause }
        }
        guard !plan.ignoresSkin, let fault = status.skinFaultWhileOn else { return nil }
        return .skin(fault, status)
    }

    /// Counts a failed poll. Returns the reason to end the run if there were too many.
    private func missed(_ error: SessionError) -> PumpRunError.Cause? {
        unanswered.increment() < Self.unansweredLimit ? nil : .failed(error)
    }

    /// Returns the error for a server that shares the pump and has lost it.
    private static func lossByServer(of session: PumpSession) -> LinkError {
        LinkError(
            .disconnected, name: session.link.name, activity: "receive",
            detail: "the server that shares the pump has lost its link to the pump")
    }

    // MARK: The end

    private func conclude(
        _ ending: Ending, _ session: PumpSession, isOn: Bool, _ watch: SessionClock
    ) async throws {
        if case .early(let cause) = ending, cause.leavesPumpAlone {
            // The pump was not touched, or has stopped in its error state, which shows the reason. Only a person should
            // leave that state.
            tell(.leftAlone)
            throw PumpRunError(cause)
        }
        var lost: LinkError?
        if case .early(.lost(let error)) = ending {
            lost = error
        } else {
            lost = try await switchOff(session, ending, isOn: isOn, watch)
        }
        if let lost {
            // A link that only failed to send still occupies the port, and would prevent reopening it.
            await session.close()
            try await regain(after: lost, watch)
        }
        tell(.off)
        switch ending {
        case .timeIsUp: return
        case .cancelled: throw CancellationError()
        case .early(let cause): throw PumpRunError(cause)
        }
    }

    /// Switches the pump off. Returns the error of the link if the link is lost before the pump has confirmed; nil if
    /// the pump is off. If the pump does not confirm OFF, OFF is repeated until the pump's own 30 minutes are over, even
    /// if ON was not acknowledged either: the pump may run although its answers do not arrive.
    private func switchOff(
        _ session: PumpSession, _ ending: Ending, isOn: Bool, _ watch: SessionClock
    ) async throws -> LinkError? {
        var isNoted = false
        while true {
            do throws(SessionError) {
                try await session.turnOff(timeout: timeout)
                return nil
            } catch {
                if error.code == .linkLost, let link = error.link, isOn || link.isGone { return link }
                // The server may have lost the pump while ON was in flight, even if its notice did not arrive.
                if error.code == .deviceAway { return Self.lossByServer(of: session) }
                // A link that refused to send ON refuses OFF too. If the far end did not confirm ON, it may have it.
                let isRefused = !isOn && error.code == .linkLost && error.link?.code != .timedOut
                guard !isRefused, error.code != .closed, watch.elapsed() < PumpState.maximumRuntime else {
                    guard case .early(.failed(let first)) = ending else {
                        throw PumpRunError(.offFailed(error, after: nil))
                    }
                    throw PumpRunError(.offFailed(error, after: first))
                }
                if !isNoted { tell(.offUnanswered(error)) }
                isNoted = true
            }
        }
    }

    /// Waits for the device and switches the pump off, until the pump's own 30 minutes, counted from the call of
    /// ``run(_:)``, are over. The work runs in a task of its own, which the cancellation that ended the run does not
    /// reach.
    private func regain(after error: LinkError, _ watch: SessionClock) async throws {
        let regaining = Task(executorPreference: executor) { await regain(watch) }
        // Reported after the task has been created: a blocked terminal must not prevent its start.
        tell(.lost(error))
        switch await regaining.value {
        case .off: return
        case .timeIsUp: throw PumpRunError(.notBack(error))
        case .never(let reason): throw PumpRunError(.goneForGood(reason))
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
                // Try again.
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

/// A counter that the tasks of a run share.
private final class Count: Sendable {
    private let value = Atomic(0)

    func reset() { value.store(0, ordering: .relaxed) }

    /// Adds 1 and returns the sum.
    func increment() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension LinkError {
    /// Whether the far end is gone, and not only a single send was refused.
    fileprivate var isGone: Bool { code == .disconnected || code == .closed }
}
