import LineProtocol

/// What a ``PumpMonitor`` does: everything that happens is an event of one stream, attended to in order.
final class PumpFollowing: @unchecked Sendable {
    // @unchecked: it is begun by one task and then followed by one other.

    private enum Event: Sendable {
        /// The pump has answered the question for its state, or has not.
        case polled(Result<PumpStatus, SessionError>)
        /// Nothing more is heard: the session or its link was closed by somebody else.
        case fellSilent
        /// Something has happened on the link unasked.
        case happened(SessionEvent<PumpMessage>)
        /// The device is back.
        case reopened(any Link)
        /// The device can't come back.
        case reopeningFailed(any Error)
    }

    private let reconnector: Reconnector
    private let interval: Duration
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let tell: @Sendable (PumpUpdate) -> Void
    private let events: AsyncStream<Event>.Continuation
    private let stream: AsyncStream<Event>

    private var session: PumpSession?
    private var tasks: [Task<Void, Never>] = []
    /// What the pump has told over this link.
    private var state = PumpState()
    /// Whether it answers, so that what it has told is of the present.
    private var isAnswering = true
    /// What was known before the link was lost, until the pump has told its state again.
    private var stateBeforeLoss: PumpState?
    /// What was last found wrong with the skin's temperature.
    private var skinFault: SkinFault?

    init(
        _ reconnector: Reconnector, interval: Duration, timeout: Duration, clock: any Clock<Duration>,
        executor: any TaskExecutor, tell: @escaping @Sendable (PumpUpdate) -> Void
    ) {
        self.reconnector = reconnector
        self.interval = interval
        self.timeout = timeout
        self.clock = clock
        self.executor = executor
        self.tell = tell
        (stream, events) = AsyncStream.makeStream(of: Event.self)
    }

    /// Attends to what happens until the task is cancelled.
    ///
    /// - Throws: Why the device can't come back; `CancellationError`.
    func follow() async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await attend()) } catch { result = .failure(error) }
        await endSession()
        try result.get()
    }

    private func attend() async throws {
        for await event in stream {
            switch event {
            // What is heard with the loss, and attended to behind it, is not of the present.
            case .polled(let result): if session != nil { take(result) }
            case .happened(.heard(let message)): if session != nil { take(message) }
            case .happened(.heardBefore): break  // it tells nothing of the present
            case .fellSilent: if session != nil { await lose(nil) }
            case .happened(.lost(let error)): await lose(error)
            case .reopened(let link): await resume(link)
            case .reopeningFailed(let error): throw error
            }
        }
        throw CancellationError()
    }

    private func tell(_ event: PumpUpdate.Event, isLinkUp: Bool = true) {
        let isCurrent = session != nil && isAnswering
        tell(PumpUpdate(event: event, state: isCurrent ? state : PumpState(), isLinkUp: isLinkUp))
    }

    // MARK: What the pump says

    private func take(_ result: Result<PumpStatus, SessionError>) {
        switch result {
        case .success(let status):
            isAnswering = true
            state.apply(.status(status))
            attendToSkin(status)
            if let before = stateBeforeLoss {
                stateBeforeLoss = nil
                tell(.back(before: before))
            } else {
                tell(.status)
            }
        case .failure(let error):
            switch error.code {
            case .noAnswer, .notUnderstood, .refused: break
            case .linkLost, .closed, .cancelled, .overtaken: return  // told of as an event of the link, or asked for
            }
            isAnswering = false
            tell(.unanswered(error))
        }
    }

    /// Tells that the skin's temperature can no longer be relied on; once for each fault.
    private func attendToSkin(_ status: PumpStatus) {
        let fault = status.skinFaultWhileOn
        defer { skinFault = fault }
        if let fault, fault != skinFault { tell(.sensorFault(fault, status)) }
    }

    private func take(_ message: PumpMessage) {
        state.overhear(message)
        switch message {
        case .status, .temperatures, .pump, .speed:
            // It speaks: this is of the present.
            isAnswering = true
            if case .status(let status) = message { attendToSkin(status) }
            tell(.status)
        case .manual(let isOn):
            isAnswering = true
            tell(.manual(isOn: isOn))
        case .error(let code):
            isAnswering = isAnswering || code.isUnsolicited
            tell(.error(code))
        case .text(let text): tell(.text([UInt8](text.utf8)))
        case .unknown(let bytes): tell(.text(bytes))
        case .ok: break
        }
    }

    // MARK: The link

    /// Begins to ask and to listen.
    ///
    /// - Parameter waitsForAnswer: Whether the pump may still be starting, and not answer yet.
    func begin(_ link: any Link, waitsForAnswer: Bool = false) async throws(SessionError) {
        let session = try await PumpSession.begin(over: link, clock: clock, waitsUntilReady: !waitsForAnswer)
        if waitsForAnswer {
            do throws(SessionError) {
                try await session.waitUntilReady()
            } catch {
                // A device that is silent is told of as such; one that is gone is waited for.
                guard error.code == .noAnswer || error.code == .notUnderstood else { throw error }
            }
        }
        self.session = session
        isAnswering = true
        let happenings = await session.events()
        tasks = [
            Task(executorPreference: executor) { [events] in
                for await event in happenings { events.yield(.happened(event)) }
                if !Task.isCancelled { events.yield(.fellSilent) }
            },
            Task(executorPreference: executor) { [events, interval, timeout, watch = SessionClock(clock)] in
                await Self.poll(session, events, every: interval, timeout: timeout, by: watch)
            },
        ]
    }

    /// Asks for the state at a steady pace, but never to make up for the time that a silence took.
    private static func poll(
        _ session: PumpSession, _ events: AsyncStream<Event>.Continuation, every interval: Duration, timeout: Duration,
        by watch: SessionClock
    ) async {
        var next = watch.elapsed()
        while !Task.isCancelled {
            do throws(SessionError) {
                events.yield(.polled(.success(try await session.readStatus(timeout: timeout))))
            } catch {
                events.yield(.polled(.failure(error)))
                if error.code == .linkLost || error.code == .closed { return }
            }
            next = max(next + interval, watch.elapsed())
            try? await watch.sleep(next)
        }
    }

    private func resume(_ link: any Link) async {
        let before = stateBeforeLoss
        state = PumpState()
        do throws(SessionError) {
            // What was unplugged has started anew, and may not answer yet.
            try await begin(link, waitsForAnswer: true)
        } catch {
            // Gone again.
            await link.close()
            await lose(error.link)
            stateBeforeLoss = before
        }
    }

    private func lose(_ error: LinkError?) async {
        await endSession()
        if stateBeforeLoss == nil { stateBeforeLoss = state }
        tell(.lost(error), isLinkUp: false)
        tasks = [
            Task(executorPreference: executor) { [events, reconnector] in
                do {
                    let link = try await reconnector.link()
                    if case .terminated = events.yield(.reopened(link)) { await link.close() }
                } catch {
                    events.yield(.reopeningFailed(error))
                }
            }
        ]
    }

    private func endSession() async {
        for task in tasks { task.cancel() }
        tasks = []
        await session?.close()
        session = nil
    }
}
