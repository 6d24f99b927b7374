public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A run of the pump that ends with it off, whatever ends the run: its time, an error, the loss of the link, or the
/// cancellation of its task.
///
/// It knows nothing of programs, ports and terminals: what it needs of them is handed in, so that ten thousand runs can be
/// tried in simulated time.
///
/// ```swift
/// let endpoint = try Endpoint("/dev/ttyUSB0")
/// let link = try await LinkSchemes.families.open(endpoint)
/// let reconnector = Reconnector(endpoint, link)
/// let pump = try await PumpSession.begin(over: link, clock: ContinuousClock())
/// let run = PumpRun(PumpRun.Plan(time: .seconds(600)), reopen: reconnector.link)
/// // Also where it failed the link is closed: another program may have to switch the pump off.
/// do { try await run.run(pump) } catch { print(error) }
/// await pump.close()
/// ```
public struct PumpRun: Sendable {
    /// What is wanted.
    public struct Plan: Sendable {
        /// How long the pump is to run; the firmware ends it after 30 minutes.
        public var time: Duration
        /// The speed to set; nil to leave it at what the pump starts with.
        public var speed: PumpSpeed?
        /// Whether it runs on where the skin's temperature can't be relied on: on a bench, worn by nobody.
        public var ignoresSkin: Bool

        /// A plan.
        public init(time: Duration, speed: PumpSpeed? = nil, ignoresSkin: Bool = false) {
            self.time = time
            self.speed = speed
            self.ignoresSkin = ignoresSkin
        }
    }

    /// What the run tells of while it goes on.
    public enum Report: Sendable {
        /// ON is about to be sent: from now on the pump may be on, and the program must not end before the run.
        case begins
        /// ON was acknowledged, and this was read of the pump, which may have stopped again: see its status.
        case on(PumpOnReport)
        /// The pump does not answer OFF, which is sent again until it does.
        case offUnanswered(SessionError)
        /// The link is lost, and the pump may be on: the device is waited for, to be switched off.
        case lost(LinkError)
        /// The pump is left as it is: it was not switched on, or stands still in its error state.
        case leftAlone
        /// The pump was read to be off.
        case off
    }

    /// How often the pump is asked for its state, as the phone app does.
    public static let pollInterval = Duration.seconds(5)
    /// How long before the end of its time the pump is asked once more: one whose board was reset since the last poll has not
    /// run to the end.
    public static let lastPoll = Duration.milliseconds(500)
    /// How many polls in succession may stay without an answer, while nothing else is heard of how the pump is, before the run
    /// ends.
    public static let unansweredLimit = 3
    /// The time between two attempts to get a lost device back.
    private static let regainInterval = Duration.seconds(1)

    private let plan: Plan
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let reopen: @Sendable () async throws -> any Link
    private let tell: @Sendable (Report) -> Void
    /// How many polls have stayed without an answer since the last good word of the pump.
    private let unanswered = Count()

    /// A run that has not begun.
    ///
    /// - Parameters:
    ///   - timeout: How long each answer is waited for.
    ///   - executor: What the run's tasks run on.
    ///   - reopen: Opens a link to the same device as soon as that can be done; it is called again where it throws, unless by
    ///     `LinkError.Code.disconnected`: the device can't come back. ``Reconnector/link()`` does that.
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

    /// What ends a run.
    private enum Ending: Sendable {
        case timeIsUp
        /// The task was cancelled.
        case cancelled
        case early(PumpRunError.Cause)
    }

    // MARK: The run

    /// Switches the pump on, and off when the time is over. Returns where the pump was read to be off.
    ///
    /// - Throws: ``PumpRunError``: why the run ended before its time, and whether the pump may be on. `CancellationError` where
    ///   the task was cancelled behind ON; the pump is off then.
    public func run(_ session: PumpSession) async throws {
        let watch = SessionClock(clock)
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
            ending = await wait(events, session, after: report)
        } catch {
            ending = await Self.ending(of: error, session, isOn: isOn)
        }
        try await conclude(ending, session, isOn: isOn, watch)
    }

    /// A pump whose status can't be read is asked again while it runs, and ends the run if that goes on.
    private func report(of session: PumpSession) async throws(SessionError) -> PumpOnReport {
        do throws(SessionError) { return try await PumpOnReport.read(session, timeout: timeout) } catch {
            guard [.noAnswer, .notUnderstood, .refused].contains(error.code) else { throw error }
            return PumpOnReport(status: nil, speed: nil)
        }
    }

    /// What a command of the beginning that failed means for the run.
    private static func ending(
        of error: SessionError, _ session: PumpSession, isOn: Bool
    ) async -> Ending {
        if !isOn, error.outcome == .notSent { return .early(.notBegun(error)) }
        if error.deviceCode == PumpErrorCode.pumpStartFailed.rawValue { return .early(.latched(error)) }
        if await session.state.power == .error { return .early(.stoppedForSafety(await session.state.error)) }
        if error.code == .linkLost, let link = error.link, isOn || link.isGone { return .early(.lost(link)) }
        if error.code == .deviceAway { return .early(.lost(lossByServer(of: session))) }
        return error.code == .cancelled ? .cancelled : .early(.failed(error))
    }

    /// Waits for what ends the run.
    private func wait(
        _ events: AsyncStream<SessionEvent<PumpMessage>>, _ session: PumpSession, after report: PumpOnReport
    ) async -> Ending {
        let (endings, ending) = AsyncStream.makeStream(of: Ending.self)
        let watch = SessionClock(clock)
        let tasks = [
            Task(executorPreference: executor) {
                if (try? await watch.sleep(plan.time)) != nil { ending.yield(.timeIsUp) }
            },
            Task(executorPreference: executor) {
                for await event in events {
                    if let found = await look(at: event, session) { ending.yield(.early(found)) }
                }
                // Somebody else has closed the session: nobody would watch the pump any more.
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

    /// When the pump is asked next, counted as the run's time is.
    private func nextPoll(after now: Duration) -> Duration {
        let (next, last) = (now + Self.pollInterval, plan.time - Self.lastPoll)
        return now < last ? min(next, last) : next
    }

    // MARK: What ends it

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
        // It may be an echo of the past: the pump is asked.
        case .heard(.pump(isOn: false)): return await poll(session)
        case .heard(let message) where PumpFamily.relayNotice(by: message) == .lost:
            return .lost(Self.lossByServer(of: session))
        case .lost(let error): return .lost(error)
        default: return nil
        }
    }

    /// One reading may be damaged on its way: the second counts.
    private func look(at status: PumpStatus, _ session: PumpSession) async -> PumpRunError.Cause? {
        let isBad =
            status.power != .on && status.power != .unknown || !plan.ignoresSkin && status.skinFaultWhileOn != nil
        if isBad { return await poll(session) }
        unanswered.reset()
        return nil
    }

    private func poll(_ session: PumpSession) async -> PumpRunError.Cause? {
        let status: PumpStatus
        do throws(SessionError) { status = try await session.readStatus(timeout: timeout) } catch {
            switch error.code {
            case .deviceAway: return .lost(Self.lossByServer(of: session))
            // The run ends otherwise.
            case .cancelled, .closed, .overtaken: return nil
            // One may be lost on its way; a pump of which nothing is known is not left to run.
            case .noAnswer, .notUnderstood, .refused, .linkLost, .unconfirmed, .notInEffect:
                return unanswered.increment() < Self.unansweredLimit ? nil : .failed(error)
            }
        }
        unanswered.reset()
        switch status.power {
        case .error: return .stoppedForSafety(await session.state.error)
        case .off: return .foundOff
        case .on, .unknown: break
        }
        guard !plan.ignoresSkin, let fault = status.skinFaultWhileOn else { return nil }
        return .skin(fault, status)
    }

    /// The link leads to a server that shares the pump, and that has lost it.
    private static func lossByServer(of session: PumpSession) -> LinkError {
        LinkError(
            .disconnected, name: session.link.name, activity: "receive",
            detail: "the server that shares the pump has lost it")
    }

    // MARK: The end

    private func conclude(
        _ ending: Ending, _ session: PumpSession, isOn: Bool, _ watch: SessionClock
    ) async throws {
        if case .early(let cause) = ending, cause.leavesPumpAlone {
            // It was not touched, or stands still in a state that tells why: to leave that is for a person to decide.
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
            // A link that only failed to send still has the device: it would stand in its own way.
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

    /// Switches the pump off; where the link is lost over it, returns how. A pump that was seen to run is not left to itself
    /// because it does not answer: it is told again until its own 30 minutes are over.
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
                // The server may have lost it while ON was under way, also where that was not heard.
                if error.code == .deviceAway { return Self.lossByServer(of: session) }
                guard isOn, error.code != .closed, watch.elapsed() < PumpState.maximumRuntime else {
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

    /// Gets the device back and switches the pump off, until its own 30 minutes are over. Runs in a task of its own, which
    /// the signal that has ended the run does not reach.
    private func regain(after error: LinkError, _ watch: SessionClock) async throws {
        let regaining = Task(executorPreference: executor) { await regain(watch) }
        // Behind it: a terminal that takes no more must not keep it from beginning.
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

/// A number that the tasks of a run share.
private final class Count: Sendable {
    private let value = Atomic(0)

    func reset() { value.store(0, ordering: .relaxed) }

    /// Adds 1; returns the sum.
    func increment() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension LinkError {
    /// Whether the far end is gone, rather than a single send refused.
    fileprivate var isGone: Bool { code == .disconnected || code == .closed }
}
