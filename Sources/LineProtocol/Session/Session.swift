/// A link and a family: sends commands, matches replies, hands out events, and keeps the state of the device.
///
/// One command is in flight at a time; the others wait their turn. Lines that answer no command go to ``events()``,
/// also those that come between the lines of a reply.
///
///     let session = Session<PumpFamily>(link: link, clock: ContinuousClock())
///     try await session.start()
///     let reply = try await session.perform(.status)
///     await session.close()
public actor Session<Family: DeviceFamily> {
    public nonisolated let unownedExecutor: UnownedSerialExecutor

    /// How long an answer is waited for, all attempts together, where a command does not say otherwise.
    ///
    /// A pump answers within a quarter of a second; this leaves room for a BLE link and for one that was lost.
    public static var defaultTimeout: Duration { .seconds(3) }

    /// The link, which the session owns from the start on.
    public nonisolated let link: any Link
    let clock: SessionClock

    private enum Life {
        case notStarted
        case running
        case lost(LinkError)
        case closed
    }

    /// The command in flight; touched on the session's executor only.
    private final class Flight: @unchecked Sendable {
        // @unchecked: it never leaves the actor but as the thing to compare with when a task is cancelled.
        var exchange: Family.Exchange
        var outcome: Outcome?
        var continuation: UnsafeContinuation<Outcome, Never>?
        var foreignLine: [UInt8]?

        init(_ exchange: Family.Exchange) { self.exchange = exchange }
    }

    private enum Outcome {
        case reply(Family.Reply)
        case refused(String)
        case timedOut
        case cancelled
        case lost(LinkError)
        case closed
    }

    /// What is known of the device.
    public private(set) var state = Family.State()
    /// Whether the device was found to have started anew since the session began: ``waitUntilReady(within:)`` had to
    /// wait for it, or it said that it starts.
    public internal(set) var hasDeviceStarted = false

    private var life = Life.notStarted
    private var framer = LineFramer(limit: Family.lineLimit)
    private var turns = TurnQueue()
    private var inFlight: Flight?
    private var lastID: UInt64 = 0
    /// What is heard from now on may still belong to an earlier command, or to an earlier user of the link.
    private var hearsThePast = false
    private var isHearingBacklog = false
    private var subscribers: [UInt64: AsyncStream<SessionEvent<Family.Message>>.Continuation] = [:]
    private var deadline: Duration?
    private var watchdog: (target: Duration, task: Task<Void, Never>)?

    /// A session over `link`; nothing is sent or received before ``start()``.
    ///
    /// - Parameter clock: What time-outs are measured by.
    public init(link: any Link, clock: any Clock<Duration>) {
        self.link = link
        unownedExecutor = link.executor.asUnownedSerialExecutor()
        self.clock = SessionClock(clock)
    }

    // MARK: Life

    /// Begins to listen.
    ///
    /// What had arrived before is taken in as ``SessionEvent/heardBefore(_:)``: it may be minutes old, and answers
    /// nothing. Where there was any, the first command is preceded by a query that tells old from new.
    public func start() async throws(SessionError) {
        guard case .notStarted = life else { return }
        life = .running
        isHearingBacklog = true
        defer { isHearingBacklog = false }
        do throws(LinkError) {
            while true {
                let bytes = try await link.receiveAvailable()
                if bytes.isEmpty { break }
                hearsThePast = true
                take(bytes)
            }
        } catch {
            lose(error)
            throw SessionError(.linkLost, command: "the first read", outcome: .notSent, link: error)
        }
        // The link holds the session until it ends: a session that is running is closed, or lost.
        await link.forward { arrival in self.assumeIsolated { $0.take(arrival) } }
    }

    /// Closes the link. A command in flight ends with `closed`, and so does each that waits for its turn.
    public func close() async {
        if case .closed = life { return }
        end(with: .closed, .closed)
        await link.close()
    }

    /// What the device says unasked, from now on, until the link is lost or closed. Each call has all of it.
    ///
    /// What is not consumed is kept.
    public func events() -> AsyncStream<SessionEvent<Family.Message>> {
        lastID += 1
        let id = lastID
        let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent<Family.Message>.self)
        switch life {
        case .lost(let error):
            continuation.yield(.lost(error))
            continuation.finish()
        case .closed:
            continuation.finish()
        case .notStarted, .running:
            subscribers[id] = continuation
            continuation.onTermination = { [weak self] _ in
                Task { await self?.unsubscribe(id) }
            }
        }
        return stream
    }

    private func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    private func lose(_ error: LinkError) {
        guard case .running = life else { return }
        for subscriber in subscribers.values { subscriber.yield(.lost(error)) }
        end(with: .lost(error), .lost(error))
    }

    private func end(with newLife: Life, _ outcome: Outcome) {
        switch life {
        case .notStarted, .running: life = newLife
        case .lost: if case .closed = newLife { life = newLife }
        case .closed: return
        }
        state.becomeUncertain()
        finishFlight(outcome)
        turns.dismissAll()
        for subscriber in subscribers.values { subscriber.finish() }
        subscribers = [:]
        watchdog?.task.cancel()
        watchdog = nil
    }

    // MARK: Commands

    /// Sends `command` and waits for its reply.
    ///
    /// A query is sent a second time when half of the time has gone by without an answer. A change is sent once: if no
    /// answer comes, whether it was carried out is unknown, and ``state`` forgets what the command put in doubt.
    ///
    /// - Parameter timeout: How long to wait for the answer, the wait for other commands not counted.
    public func perform(
        _ command: Family.Command, timeout: Duration = Session.defaultTimeout
    ) async throws(SessionError) -> Family.Reply {
        try await takeTurn(for: command)
        defer { turns.release() }
        let effect = Family.effect(of: command)
        if hearsThePast, effect != .stop, let fence = Family.fence {
            try await passFence(fence, before: command, timeout: timeout)
        }
        guard effect == .query else { return try await exchange(command, timeout: timeout) }
        do throws(SessionError) {
            return try await exchange(command, timeout: timeout / 2)
        } catch {
            guard error.code == .noAnswer || error.code == .notUnderstood else { throw error }
            return try await exchange(command, timeout: timeout / 2)
        }
    }

    private func takeTurn(for command: Family.Command) async throws(SessionError) {
        try checkLife(for: command)
        if turns.takeIfFree() { return }
        let id = turns.newID()
        let isMyTurn = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if Task.isCancelled { continuation.resume(returning: false) } else { turns.wait(id, continuation) }
            }
        } onCancel: {
            Task { await self.giveUpTurn(id) }
        }
        guard isMyTurn else {
            try checkLife(for: command)
            throw SessionError(.cancelled, command: text(of: command), outcome: .notSent)
        }
    }

    private func giveUpTurn(_ id: UInt64) { turns.giveUp(id) }

    private func checkLife(for command: Family.Command) throws(SessionError) {
        switch life {
        case .running: return
        case .lost(let error):
            throw SessionError(.linkLost, command: text(of: command), outcome: .notSent, link: error)
        case .notStarted, .closed:
            throw SessionError(.closed, command: text(of: command), outcome: .notSent)
        }
    }

    /// Asks what is never said unasked, so that all that was said before is known to be old.
    private func passFence(
        _ fence: Family.Command, before command: Family.Command, timeout: Duration
    ) async throws(SessionError) {
        do throws(SessionError) {
            _ = try await exchange(fence, timeout: timeout)
        } catch {
            var error = error
            error.command = text(of: command)
            error.outcome = .notSent
            throw error
        }
    }

    private func exchange(_ command: Family.Command, timeout: Duration) async throws(SessionError) -> Family.Reply {
        try checkLife(for: command)
        let flight = Flight(Family.exchange(for: command))
        inFlight = flight
        defer { inFlight = nil }
        setDeadline(clock.elapsed() + timeout)
        do throws(LinkError) {
            try await link.send(Family.encode(command))
        } catch {
            doubt(command)
            let code: SessionError.Code =
                switch error.code {
                case .cancelled: .cancelled
                case .closed: .closed
                default: .linkLost
                }
            throw SessionError(code, command: text(of: command), outcome: outcome(of: command), link: error)
        }
        let result = await outcome(of: flight)
        deadline = nil
        return try conclude(command, flight, result, waited: timeout)
    }

    private func conclude(
        _ command: Family.Command, _ flight: Flight, _ result: Outcome, waited: Duration
    ) throws(SessionError) -> Family.Reply {
        let code: SessionError.Code
        var link: LinkError?
        switch result {
        case .reply(let reply):
            hearsThePast = false
            return reply
        case .refused(let deviceCode):
            throw SessionError(
                .refused, command: text(of: command), outcome: .nothingChanged, deviceCode: deviceCode)
        case .timedOut:
            let foreignLine = flight.foreignLine ?? (framer.pending.isEmpty ? nil : framer.pending)
            doubt(command)
            throw SessionError(
                foreignLine == nil ? .noAnswer : .notUnderstood, command: text(of: command),
                outcome: outcome(of: command), foreignLine: foreignLine, waited: waited)
        case .cancelled: code = .cancelled
        case .closed: code = .closed
        case .lost(let error):
            code = .linkLost
            link = error
        }
        doubt(command)
        throw SessionError(code, command: text(of: command), outcome: outcome(of: command), link: link)
    }

    /// The command was sent and its reply was not heard.
    private func doubt(_ command: Family.Command) {
        hearsThePast = true
        if Family.effect(of: command) != .query { state.becomeUncertain() }
    }

    private func outcome(of command: Family.Command) -> SessionError.Outcome {
        Family.effect(of: command) == .query ? .nothingChanged : .unknown
    }

    private func outcome(of flight: Flight) async -> Outcome {
        if let outcome = flight.outcome { return outcome }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: .cancelled)
                } else {
                    flight.continuation = continuation
                }
            }
        } onCancel: {
            Task { await self.cancel(flight) }
        }
    }

    private func cancel(_ flight: Flight) { finish(flight, .cancelled) }

    private func finish(_ flight: Flight, _ outcome: Outcome) {
        guard flight.outcome == nil else { return }
        flight.outcome = outcome
        flight.continuation?.resume(returning: outcome)
    }

    private func finishFlight(_ outcome: Outcome) {
        if let inFlight { finish(inFlight, outcome) }
    }

    private nonisolated func text(of command: Family.Command) -> String {
        let bytes = Family.encode(command)
        return String(decoding: bytes.prefix { $0 != .lineFeed && $0 != .carriageReturn }, as: UTF8.self)
    }

    // MARK: Time

    /// One task sleeps for all commands: it wakes at the deadline it knew, and goes back to sleep if that was met.
    private func setDeadline(_ newDeadline: Duration) {
        deadline = newDeadline
        if let watchdog, watchdog.target <= newDeadline { return }
        watchdog?.task.cancel()
        watchdog = (newDeadline, Task(executorPreference: link.executor) { await self.watch(until: newDeadline) })
    }

    private func watch(until target: Duration) async {
        do { try await clock.sleep(target) } catch { return }
        guard watchdog?.target == target else { return }
        watchdog = nil
        guard let deadline else { return }
        if clock.elapsed() >= deadline { finishFlight(.timedOut) } else { setDeadline(deadline) }
    }

    // MARK: What is heard

    private func take(_ arrival: LinkArrival) {
        switch arrival {
        case .bytes(let bytes): take(bytes)
        case .ended(nil): end(with: .closed, .closed)
        case .ended(let error?): lose(error)
        }
    }

    private func take(_ bytes: [UInt8]) {
        framer.append(bytes.span) { line, ending in
            if line.isEmpty { return }
            hear(Family.message(line: line, ending: ending), line: line)
        }
    }

    private func hear(_ message: Family.Message, line: Span<UInt8>) {
        if isHearingBacklog { return publish(.heardBefore(message)) }
        if Family.isStart(message) { hasDeviceStarted = true }
        if let flight = inFlight, flight.outcome == nil {
            if Family.isForeign(message) { flight.foreignLine = line.withUnsafeBufferPointer { Array($0) } }
            switch flight.exchange.take(message) {
            case .partial: return
            case .complete(let reply):
                state.apply(message)
                return finish(flight, .reply(reply))
            case .refused(let code):
                state.apply(message)
                return finish(flight, .refused(code))
            case .unrelated: break
            }
        }
        state.overhear(message)
        publish(.heard(message))
    }

    private func publish(_ event: SessionEvent<Family.Message>) {
        for subscriber in subscribers.values { subscriber.yield(event) }
    }
}
