import LineProtocol

/// What a ``DeviceMonitor`` does: everything that happens is an event of one stream, attended to in order.
final class DeviceFollowing<F: FollowedFamily>: @unchecked Sendable {
    // @unchecked: it is begun by one task and then followed by one other.

    private enum Event: Sendable {
        /// The device has answered the question for its state, or has not.
        case polled(Result<F.Reply, SessionError>)
        /// Nothing more is heard: the session or its link was closed by somebody else.
        case fellSilent
        /// Something has happened on the link unasked.
        case happened(SessionEvent<F.Message>)
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
    private let tell: @Sendable (DeviceUpdate<F>) -> Void
    private let events: AsyncStream<Event>.Continuation
    private let stream: AsyncStream<Event>

    private var session: Session<F>?
    private var tasks: [Task<Void, Never>] = []
    /// A question that is asked between two polls.
    private var question: Task<Void, Never>?
    /// What the device has told over this link.
    private var state = F.State()
    /// Whether it answers, so that what it has told is of the present.
    private var isAnswering = true
    /// What was known before the link was lost, until the device has told its state again.
    private var stateBeforeLoss: F.State?
    /// What was last found wrong.
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

    // MARK: What the device says

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
            case .linkLost, .closed, .cancelled, .overtaken: return  // told of as an event of the link, or asked for
            }
            isAnswering = false
            // What it says next tells nothing of what it has said before.
            state = F.State()
            tell(.unanswered(error))
        }
    }

    /// Tells that the device is back, once it has told its state; nil where it was not gone.
    private func tellOfReturn() -> Void? {
        guard let before = stateBeforeLoss else { return nil }
        stateBeforeLoss = nil
        return tell(.back(before: before))
    }

    /// Tells what is wrong; once for each fault.
    private func attendToAlarms(_ message: F.Message) {
        guard let found = F.alarms(by: message) else { return }
        defer { alarms = Set(found) }
        for alarm in found where !alarms.contains(alarm) { tell(.alarm(alarm)) }
    }

    private func take(_ message: F.Message) {
        switch F.relayNotice(by: message) {
        case .lost, .back:
            isAnswering = false
            state = F.State()
        // Late answers to questions that were given up.
        case .notSent, .overtaken: return
        case nil: break
        }
        if F.isStart(message) { state.becomeUncertain() }
        state.overhear(message)
        switch F.meaning(of: message) {
        case .state:
            // It speaks: this is of the present.
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
            isAnswering = isAnswering || F.row.error(code)?.isUnsolicited ?? false
            tell(.heard(message))
        case .text: tell(.heard(message))
        case .nothing: break
        }
    }

    /// Asks for the state at once if the device has said something that leaves it open, as `PUMP:OFF` does.
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

    /// Begins to ask and to listen.
    ///
    /// - Parameter waitsForAnswer: Whether the device may still be starting, and not answer yet.
    func begin(_ link: any Link, waitsForAnswer: Bool = false) async throws(SessionError) {
        let session = try await F.begin(over: link, clock: clock, waitsUntilReady: !waitsForAnswer)
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

    private func resume(_ link: any Link) async {
        let before = stateBeforeLoss
        state = F.State()
        do throws(SessionError) {
            // What was unplugged has started anew, and may not answer yet.
            try await begin(link, waitsForAnswer: true)
            if F.statusQuery == nil { _ = tellOfReturn() }
        } catch {
            // Gone again.
            await link.close()
            await lose(error.link ?? Self.closed(link))
            stateBeforeLoss = before
        }
    }

    /// The link was closed, and not by who follows the device.
    private static func closed(_ link: any Link) -> LinkError {
        LinkError(.closed, name: link.name, activity: "receive")
    }

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
