import LineProtocol

/// The polling, listening and reconnecting of a ``DeviceMonitor``. All events go through one stream and are handled in
/// order.
final class DeviceFollowing<F: FollowedFamily>: @unchecked Sendable {
    // @unchecked: one task calls `begin`, and after that one other task calls `follow`.

    private enum Event: Sendable {
        /// The device has answered the query for its state, or has failed to.
        case polled(Result<F.Reply, SessionError>)
        /// The events of the session have ended, for example because its link was closed outside this object.
        case fellSilent
        /// An event of the session.
        case happened(SessionEvent<F.Message>)
        /// The device is back, at this link.
        case reopened(any Link)
        /// The device can't come back.
        case reopeningFailed(any Error)
    }

    private let reconnector: Reconnector
    private let interval: Duration
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let executor: any TaskExecutor
    private let tell: @Sendable (DeviceUpdate<F>) -> Void
    private let events: AsyncStream<Event>.Continuation
    private let stream: AsyncStream<Event>

    private var session: Session<F>?
    /// The tasks that listen and poll or, after a loss, the task that waits for the device.
    private var tasks: [Task<Void, Never>] = []
    /// The query that ``askIfStateIsOpen()`` has started; nil if there is none, or if a query has ended since.
    private var question: Task<Void, Never>?
    /// The state that the device has reported over this link.
    private var state = F.State()
    /// Whether the device answers, so that its state is current.
    private var isAnswering = true
    /// The last state before the link was lost; nil before a loss, and once the return of the device was reported.
    private var stateBeforeLoss: F.State?
    /// The alarms that the device has raised and that no later message has ended.
    private var alarms: Set<Alarm> = []

    init(
        _ reconnector: Reconnector, interval: Duration, timeout: Duration, clock: any Clock<Duration>,
        executor: any TaskExecutor, tell: @escaping @Sendable (DeviceUpdate<F>) -> Void
    ) {
        self.reconnector = reconnector
        self.interval = interval
        self.timeout = timeout
        self.clock = clock
        self.executor = executor
        self.tell = tell
        (stream, events) = AsyncStream.makeStream(of: Event.self)
    }

    /// Handles events until the task is cancelled.
    ///
    /// - Throws: The reason that the device can't come back; `CancellationError`.
    func follow() async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await attend()) } catch { result = .failure(error) }
        await endSession()
        try result.get()
    }

    /// Handles events one by one. Always ends by an error.
    private func attend() async throws {
        for await event in stream {
            switch event {
            // Without a session, answers and messages were queued before the loss and are stale.
            case .polled(let result): if session != nil { take(result) }
            case .happened(.heard(let message)): if session != nil { take(message) }
            case .happened(.heardBefore): break  // says nothing about the present state
            case .fellSilent: if let session { await lose(Self.closed(session.link)) }
            case .happened(.lost(let error)): await lose(error)
            case .reopened(let link): await resume(link)
            case .reopeningFailed(let error): throw error
            }
        }
        throw CancellationError()
    }

    private func tell(_ event: DeviceUpdate<F>.Event, isLinkUp: Bool = true) {
        let isCurrent = session != nil && isAnswering
        tell(DeviceUpdate(event: event, state: isCurrent ? state : F.State(), isLinkUp: isLinkUp))
    }

    // MARK: Messages of the device

    /// Handles the outcome of a query for the state.
    private func take(_ result: Result<F.Reply, SessionError>) {
        question = nil
        switch result {
        case .success(let answer):
            isAnswering = true
            if let message = F.message(of: answer) {
                state.apply(message)
                attendToAlarms(message)
            }
            tellOfReturn() ?? tell(.status)
        case .failure(let error):
            switch error.code {
            case .noAnswer, .notUnderstood, .refused, .deviceAway, .unconfirmed, .notInEffect: break
            case .linkLost, .closed, .cancelled, .overtaken: return  // reported as an event of the link, or intended
            }
            isAnswering = false
            // State from before the silence must not be combined with later messages.
            state = F.State()
            tell(.unanswered(error))
        }
    }

    /// Reports that the device is back. Returns nil if the device was not lost, or its return was reported before.
    private func tellOfReturn() -> Void? {
        guard let before = stateBeforeLoss else { return nil }
        stateBeforeLoss = nil
        return tell(.back(before: before))
    }

    /// Reports the alarms that `message` raises, each once until a message shows that its fault is over.
    private func attendToAlarms(_ message: F.Message) {
        guard let found = F.alarms(by: message) else { return }
        defer { alarms = Set(found) }
        for alarm in found where !alarms.contains(alarm) { tell(.alarm(alarm)) }
    }

    /// Handles an unsolicited message.
    private func take(_ message: F.Message) {
        switch F.relayNotice(by: message) {
        case .lost, .back:
            isAnswering = false
            state = F.State()
        // Notices that a query, which is no longer awaited, was not sent. They say nothing about the device's state.
        case .notSent, .overtaken: return
        case nil: break
        }
        if F.isStart(message) { state.becomeUncertain() }
        state.overhear(message)
        switch F.meaning(of: message) {
        case .state:
            // The device has sent its state, so the state is current.
            isAnswering = true
            attendToAlarms(message)
            tell(.status)
            askIfStateIsOpen()
        case .event:
            isAnswering = true
            attendToAlarms(message)
            tell(.heard(message))
            askIfStateIsOpen()
        case .error(let code):
            // Only an unsolicited error is surely the device's own: a server sends others, such as that the device is
            // away.
            isAnswering = isAnswering || F.row.error(code)?.isUnsolicited ?? false
            tell(.heard(message))
        case .text: tell(.heard(message))
        case .nothing: break
        }
    }

    /// Queries the state at once if the first field of the state is unknown, as after `PUMP:OFF`, and no query is
    /// running.
    private func askIfStateIsOpen() {
        guard question == nil, let session, let query = F.statusQuery, let main = F.row.state.first?.key,
            F.values(of: state)[main] == nil
        else { return }
        question = Task(executorPreference: executor) { [events, timeout] in
            do throws(SessionError) {
                events.yield(.polled(.success(try await session.perform(query, timeout: timeout))))
            } catch {
                events.yield(.polled(.failure(error)))
            }
        }
    }

    // MARK: The link

    /// Starts to poll and to listen.
    ///
    /// - Parameter waitsForAnswer: Whether to wait until the device answers, because it may still be starting. A device
    ///   that stays silent is not an error then.
    func begin(_ link: any Link, waitsForAnswer: Bool = false) async throws(SessionError) {
        let session = try await F.begin(over: link, clock: clock, waitsUntilReady: !waitsForAnswer)
        if waitsForAnswer {
            do throws(SessionError) {
                try await session.waitUntilReady()
            } catch {
                // A device that is silent, or away from the server that shares it, is reported as unanswered later. A
                // lost device makes `begin` throw, so that the caller waits for it.
                guard [.noAnswer, .notUnderstood, .deviceAway, .overtaken].contains(error.code) else { throw error }
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

    /// Queries the state every `interval`, counted from the beginning of one query to the next. If a query takes
    /// longer, the next one follows at once, and the times that were missed are skipped.
    private static func poll(
        _ session: Session<F>, _ events: AsyncStream<Event>.Continuation, every interval: Duration, timeout: Duration,
        by watch: SessionClock
    ) async {
        guard let query = F.statusQuery else { return }
        var next = watch.elapsed()
        while !Task.isCancelled {
            do throws(SessionError) {
                events.yield(.polled(.success(try await session.perform(query, timeout: timeout))))
            } catch {
                events.yield(.polled(.failure(error)))
                if error.code == .linkLost || error.code == .closed { return }
            }
            next = max(next + interval, watch.elapsed())
            try? await watch.sleep(next)
        }
    }

    /// Continues over a new link after a loss.
    private func resume(_ link: any Link) async {
        let before = stateBeforeLoss
        state = F.State()
        do throws(SessionError) {
            // A device that was unplugged has restarted, and may not answer yet.
            try await begin(link, waitsForAnswer: true)
            if F.statusQuery == nil { _ = tellOfReturn() }
        } catch {
            // The device is lost again.
            await link.close()
            await lose(error.link ?? Self.closed(link))
            stateBeforeLoss = before
        }
    }

    /// Returns the error for a link that was closed outside this object.
    private static func closed(_ link: any Link) -> LinkError {
        LinkError(.closed, name: link.name, activity: "receive")
    }

    /// Reports that the link is lost, and starts to wait for the device.
    private func lose(_ error: LinkError) async {
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
        question?.cancel()
        question = nil
        await session?.close()
        session = nil
    }
}
