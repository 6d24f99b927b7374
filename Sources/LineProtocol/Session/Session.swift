/// Sends commands to a device over a link, matches replies, delivers events, and keeps the state of the device.
///
/// One command is in flight at a time; the others wait their turn. Lines that answer no command go to ``events()``,
/// even if they come between the lines of a reply.
///
///     let session = try await Session<PumpFamily>.begin(over: link, clock: ContinuousClock())
///     let reply = try await session.perform(.status)
///     await session.close()
public actor Session<Family: DeviceFamily> {
    // The words of the session's code:
    // - turn: the right of one command to use the link. Other commands wait in `turns`.
    // - flight: the course of the command that has the turn, from its sending to its ending.
    // - fence: a query whose reply separates stale lines from new ones (`DeviceFamily.fence`).
    // - stop: the command that makes the device safe, with its repetitions and queries (`DeviceFamily.stop`).
    // - doubtful error: an error that may answer an older line than the command in flight.
    // - backlog: the input that arrived before the session began.

    public nonisolated let unownedExecutor: UnownedSerialExecutor

    /// The default time limit for an answer, including all attempts.
    ///
    /// A pump answers within a quarter of a second. The rest is for a BLE link, and for a lost answer.
    public static var defaultTimeout: Duration { .seconds(3) }

    /// The link, which the session owns.
    public nonisolated let link: any Link
    let clock: SessionClock

    /// The state of the device, as far as it is known.
    public var state: Family.State { listener.conversation.state }
    /// Whether the device has reported a start since the session began. A device that has started has lost its state: a
    /// pump is off.
    public var hasDeviceStarted: Bool { listener.conversation.hasDeviceStarted }
    /// Whether a query of ``waitUntilReady(within:)`` got no answer: the device was starting (certain only if
    /// ``hasDeviceStarted`` is true too), or data on the link was lost.
    public internal(set) var wasDeviceSilent = false

    private var life = SessionLife.notStarted
    let turns = TurnQueue()
    /// The number of stops requested so far. A change that was requested before a stop, and is not sent yet, is
    /// dropped.
    var stopsRequested: UInt64 = 0
    let listener = Listener<Family>()
    /// Whether to send ``DeviceFamily/lineSpoiler`` before the next command, since the device may have received the
    /// beginning of a line that nobody has ended.
    var mayBeMidLine: Bool
    /// Whether the link has not yet accepted the last stop.
    var isStopBeingSent = false
    var pace = SendingPace()
    /// The time, by ``clock``, at which the flight times out; nil if no flight is waited for.
    var deadline: Duration?
    /// The task that sleeps until `target` and then checks ``deadline``: see ``setDeadline(_:)``.
    private var watchdog: (target: Duration, task: Task<Void, Never>)?

    /// Creates a session over `link`. Nothing is sent or received before ``start()``.
    ///
    /// - Parameters:
    ///   - link: The link, which the session owns from now on.
    ///   - clock: The clock for time-outs.
    public init(link: any Link, clock: any Clock<Duration>) {
        self.link = link
        unownedExecutor = link.executor.asUnownedSerialExecutor()
        self.clock = SessionClock(clock)
        mayBeMidLine = link.mayBeMidLine && !Family.lineSpoiler.isEmpty
    }

    // MARK: Life

    /// Begins a session over `link`, and listens.
    ///
    /// If opening the link may have reset the board, this waits until the firmware answers, about 3 s on a Nano.
    /// ``wasDeviceSilent`` then shows whether a query got no answer, and ``hasDeviceStarted`` whether the device
    /// reported its start.
    ///
    /// - Parameters:
    ///   - link: The link, which the session owns from now on.
    ///   - clock: The clock for time-outs.
    ///   - waitsUntilReady: Whether to wait for a board that was reset. A caller that only makes the device safe need
    ///     not wait: the command of ``DeviceFamily/stop`` is repeated until the device reports that it is safe, or its
    ///     time is over.
    ///   - observer: Called with each event of ``events()``, on the executor of the link and before later lines are
    ///     processed. It must not block.
    /// - Throws: `linkLost`, or an error of ``waitUntilReady(within:)``. The link is then closed.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool = true,
        observer: (@Sendable (SessionEvent<Family.Message>) -> Void)? = nil
    ) async throws(SessionError) -> Session {
        try await begun(over: link, clock: clock, waitsUntilReady: waitsUntilReady, observer: observer)
    }

    /// Begins a session like ``begin(over:clock:waitsUntilReady:observer:)``, which other modules call with generic code
    /// only. The families of this module call this function from functions that the compiler specializes for the family,
    /// because their sessions then process lines faster.
    static func begun(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool,
        observer: (@Sendable (SessionEvent<Family.Message>) -> Void)? = nil
    ) async throws(SessionError) -> Session {
        let session = Session(link: link, clock: clock)
        do throws(SessionError) {
            try await session.start(observer)
            if waitsUntilReady, link.mayHaveReset { try await session.waitUntilReady() }
        } catch {
            await session.close()
            throw error
        }
        return session
    }

    /// Begins to listen. A second call does nothing.
    ///
    /// Input that has already arrived is delivered as ``SessionEvent/heardBefore(_:)``: it may be minutes old, and
    /// answers nothing. After such input, ``DeviceFamily/fence``, if there is one, is sent before the first query or
    /// change; its reply separates stale lines from new ones.
    ///
    /// - Throws: `linkLost` if the link breaks while the earlier input is read.
    public func start() async throws(SessionError) { try await start(nil) }

    private func start(
        _ observer: (@Sendable (SessionEvent<Family.Message>) -> Void)?
    ) async throws(SessionError) {
        guard case .notStarted = life else { return }
        listener.conversation.observer = observer
        life = .running
        // Commands wait until the backlog has been read: until then a reply would count as stale.
        _ = turns.takeIfFree()
        defer { turns.release() }
        if mayBeMidLine { listener.conversation.expectThePast() }
        listener.conversation.backlog = .arriving
        defer { listener.conversation.backlog = listener.pending.isEmpty ? .over : .lineBegun }
        do throws(LinkError) {
            while true {
                let bytes = try await link.receiveAvailable()
                if bytes.isEmpty { break }
                listener.conversation.expectThePast()
                listener.take(bytes)
            }
        } catch {
            lose(error)
            throw SessionError(.linkLost, command: "the first read", outcome: .notSent, link: error)
        }
        // The link retains the session until the link ends, so a running session ends only by `close()` or by losing
        // the link.
        await link.forward { [listener, executor = link.executor] arrival in
            guard case .bytes(let bytes) = arrival else { return self.assumeIsolated { $0.take(arrival) } }
            if executor.isIsolatingCurrentContext() != true { self.preconditionIsolated() }
            listener.take(bytes)
        }
    }

    /// Closes the link. The command in flight and all waiting commands fail with `closed`. Closing twice is allowed.
    public func close() async {
        if case .closed = life { return }
        // Only a running session reports its doubt: if the link is lost, the loss explains the missing answers, and a
        // search for other users of the port would delay an OFF over a new link.
        if case .running = life, listener.conversation.isInDoubt { link.noteDoubt() }
        endLife(as: .closed, .closed)
        await link.close()
    }

    /// Returns the events of the session from now on. The stream ends when the link is lost or closed. Each call
    /// returns a stream of its own with all events.
    ///
    /// A stream buffers events without limit until they are consumed. If the link was lost before the call and the
    /// session is not closed, the stream contains only ``SessionEvent/lost(_:)``.
    public func events() -> AsyncStream<SessionEvent<Family.Message>> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent<Family.Message>.self)
        switch life {
        case .lost(let error):
            continuation.yield(.lost(error))
            continuation.finish()
        case .closed:
            continuation.finish()
        case .notStarted, .running:
            let id = listener.conversation.subscribe(continuation)
            continuation.onTermination = { [weak self, executor = link.executor] _ in
                Task(executorPreference: executor) { await self?.unsubscribe(id) }
            }
        }
        return stream
    }

    private func unsubscribe(_ id: UInt64) { listener.conversation.unsubscribe(id) }

    /// Ends a running session because its link is lost.
    private func lose(_ error: LinkError) {
        guard case .running = life else { return }
        listener.conversation.publish(.lost(error))
        endLife(as: .lost(error), .lost(error))
    }

    /// - Parameter ending: The ending of the command in flight.
    private func endLife(as newLife: SessionLife, _ ending: Flight.Ending) {
        switch life {
        case .notStarted, .running: life = newLife
        case .lost: if case .closed = newLife { life = newLife }
        case .closed: return
        }
        listener.conversation.endForGood(ending)
        turns.dismissAll()
        watchdog?.task.cancel()
        watchdog = nil
    }

    // MARK: Commands

    /// Sends `command` and waits for its reply.
    ///
    /// A query is sent a second time if no answer has come after half of the timeout. A change is sent once: if no
    /// answer comes, its outcome is unknown, and ``state`` forgets everything that the command put in doubt. If the
    /// task is cancelled before the command is sent, the command is not sent.
    ///
    /// The command that makes the device safe (``DeviceFamily/stop``) precedes all others. It is sent at once, whatever
    /// is in flight, waiting, or unclear, even by a cancelled task. It is repeated until the device reports that it is
    /// safe, or until the time is over. When a stop is requested, every change that waits, or whose reply has not come,
    /// fails with `overtaken`; queries are sent (again) after the stop.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - timeout: The time limit for the answer, including all attempts, without the time before the command is sent:
    ///     the wait for other commands, and for the fence. A stop may take up to ``stopExtension`` longer.
    /// - Returns: The reply.
    /// - Throws: An error with the effect of the command, as far as it is known (``SessionError/outcome``).
    public func perform(
        _ command: Family.Command, timeout: Duration = Session.defaultTimeout
    ) async throws(SessionError) -> Family.Reply {
        try await perform(command, timeout: timeout, isProbe: false)
    }

    /// - Parameter isProbe: Whether the command is a query that only checks whether the device reads. An error is then
    ///   an answer too, and a fence before the query is not repeated, since the caller repeats the query.
    @inline(__always)
    func perform(
        _ command: Family.Command, timeout: Duration, isProbe: Bool
    ) async throws(SessionError) -> Family.Reply {
        try checkLife(for: command)
        let effect = Family.effect(of: command)
        if effect == .stop, var rule = Family.stop {
            rule.command = command
            return try await stop(by: rule, timeout: timeout)
        }
        var stopCount = stopsRequested
        var hasTurn = turns.takeIfFree()
        if !hasTurn { try await waitForTurn(command) }
        hasTurn = true
        defer { if hasTurn { turns.release() } }
        if !Family.isWanted(command) {
            throw SessionError(.cancelled, command: text(of: command), outcome: .notSent)
        }
        // The device may not have read the fence after an earlier change: together with this change, it could overflow
        // the device's receive buffer.
        if effect == .change, listener.conversation.isFenceUnread {
            await waitForOwedFences(within: Self.lateReplyTime)
        }
        let attemptTime = effect == .query ? timeout.half : timeout
        var sending = Sending.first
        while true {
            if effect == .query { stopCount = stopsRequested }
            do throws(SessionError) {
                if sending.isFirst, listener.conversation.hearsThePast, let fence = Family.fence {
                    try await passFence(
                        fence, before: command, timeout: timeout, isRepeated: !isProbe, since: stopCount)
                }
                // On the retry, an error may be the real answer.
                let trust = sending.isFirst && !isProbe ? errorTrust(behind: effect) : .own
                return try await exchange(command, timeout: attemptTime, errors: trust, since: stopCount)
            } catch {
                guard effect == .query else { throw error }
                switch error.code {
                case .noAnswer, .notUnderstood:
                    if case .second(after: let firstError) = sending { throw error.following(firstError) }
                    if error.outcome == .notSent { throw error }
                    sending = .second(after: error)
                case .overtaken:
                    sending = .first
                    hasTurn = false
                    turns.release()
                    try await waitForTurn(command, wasOvertaken: true)
                    hasTurn = true
                default: throw error
                }
            }
        }
    }

    /// Returns the meaning of an error that can answer the next command.
    ///
    /// For a change, the error may answer a half line that ``DeviceFamily/changePrefix`` has ended. Without a fence the
    /// session could not find out which line an error answers, so every error counts as the answer.
    private func errorTrust(behind effect: CommandEffect) -> Flight.ErrorTrust {
        if Family.fence == nil { return .own }
        if effect == .change, !Family.changePrefix.isEmpty { return .doubtful }
        return listener.conversation.areErrorsOwn ? .own : .doubtful
    }

    /// Waits for the turn to send `command`. An urgent command is a stop: it ends the flight of any other command as
    /// `overtaken`.
    ///
    /// - Throws: `cancelled`; `closed` or `linkLost` if the session ends first.
    func waitForTurn(
        _ command: Family.Command, isUrgent: Bool = false, wasOvertaken: Bool = false
    ) async throws(SessionError) {
        let place = turns.join(
            isUrgent: isUrgent, wasOvertaken: wasOvertaken, isEarly: Family.isEarly(command))
        // End the flight only after the stop is queued: otherwise an ordinary command would get the turn of the flight
        // that ends.
        if isUrgent, !listener.conversation.isStopping { listener.conversation.endFlight(.overtaken) }
        guard await place.isReached() else {
            try checkLife(for: command)
            throw SessionError(.cancelled, command: text(of: command), outcome: .notSent)
        }
    }

    /// Checks that the session is running.
    ///
    /// - Throws: `linkLost`, or `closed` if the session is closed or not started. Nothing of `command` was sent.
    func checkLife(for command: Family.Command) throws(SessionError) {
        switch life {
        case .running: return
        case .lost(let error):
            throw SessionError(.linkLost, command: text(of: command), outcome: .notSent, link: error)
        case .notStarted, .closed:
            throw SessionError(.closed, command: text(of: command), outcome: .notSent)
        }
    }

    /// - Parameter stopCount: The value of ``stopsRequested`` when a change was requested, or when a query got its
    ///   turn.
    /// - Throws: `linkLost`, `closed`, `cancelled`; `overtaken` if a stop was requested after `stopCount` was read, or
    ///   waits for its turn.
    private func checkMaySend(_ command: Family.Command, since stopCount: UInt64) throws(SessionError) {
        try checkLife(for: command)
        // Checked again just before the command is sent. During the wait for a fence, the sender of the command may
        // leave, which cancels the task, or a suspension of this process, as by SIGSTOP, may last until the command is
        // no longer wanted.
        if Task.isCancelled || !Family.isWanted(command) {
            throw SessionError(.cancelled, command: text(of: command), outcome: .notSent)
        }
        // A query that has just got the turn lets urgent commands go first.
        guard stopsRequested == stopCount, !turns.isUrgentWaiting || listener.conversation.isStopping else {
            throw SessionError(.overtaken, command: text(of: command), outcome: .notSent)
        }
    }

    /// Sends a command once, during the caller's turn, and waits for its reply.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - timeout: The time limit for the reply, counted from the sending.
    ///   - errors: The meaning of an error that comes before the reply.
    ///   - stopCount: As for `checkMaySend(_:since:)`.
    // Inlined: each call of an actor's asynchronous function looks twice for the executor to run on.
    @inline(__always)
    func exchange(
        _ command: Family.Command, timeout: Duration, errors: Flight.ErrorTrust, since stopCount: UInt64
    ) async throws(SessionError) -> Family.Reply {
        try checkMaySend(command, since: stopCount)
        var now = clock.elapsed()
        if now < pace.nextSending {
            try await waitToSend(command, since: stopCount)
            now = clock.elapsed()
        }
        if Family.isFence(command) { listener.conversation.sendsFence() }
        let id = listener.conversation.begin(command, errors: errors, isSpoilerSent: mayBeMidLine)
        pace.noteSending(at: now)
        setDeadline(now + timeout)
        do throws(LinkError) {
            var bytes = Family.encode(command)
            if mayBeMidLine {
                bytes = Family.lineSpoiler + bytes
                mayBeMidLine = false
            } else if Family.effect(of: command) == .change {
                bytes = Family.changePrefix + bytes
            }
            if try !link.sendAtOnce(bytes) {
                try await send(bytes, of: id, isCommand: true)
            } else if !listener.conversation.isOver {
                await waitForEnd(of: id)
            }
            if errors == .doubtful { try await clearUpError(of: id, command) }
        } catch {
            throw endUnsent(command, error)
        }
        deadline = nil
        return try reply(to: command, waited: timeout)
    }

    /// Waits until the device has had time to read the last command, if that command was given up. Stops do not wait.
    private func waitToSend(_ command: Family.Command, since stopCount: UInt64) async throws(SessionError) {
        await pause(until: pace.nextSending)
        try checkMaySend(command, since: stopCount)
    }

    /// Waits in a flight without a command. The request for a stop, unless a stop is in progress, the end of the link,
    /// or a cancellation ends the wait early.
    func pause(until time: Duration) async {
        let pause = listener.conversation.beginPause()
        setDeadline(time)
        await waitForEnd(of: pause)
        deadline = nil
        _ = listener.conversation.removeFlight()
    }

    /// Sends bytes that the link does not accept at once, and waits for the end of the flight. A carrier that accepts
    /// nothing must not hold a command beyond its deadline.
    ///
    /// An answer to a command whose bytes the link has not yet accepted does not end the flight: the answer may be for
    /// another host. If the flight ends without an answer, for example at its deadline, the sending is cancelled, so
    /// that the bytes do not switch on a pump much later.
    ///
    /// - Parameter isCommand: Whether the bytes are the command's own; false for a query or fence that is sent after
    ///   the command to clear up an error.
    func send(_ bytes: [UInt8], of flight: UInt64, isCommand: Bool) async throws(LinkError) {
        listener.conversation.beginSending(ofCommand: isCommand)
        let sending = Task(executorPreference: link.executor) { () -> LinkError? in
            do throws(LinkError) {
                try await self.link.send(bytes)
                self.listener.conversation.endSending(flight)
                return nil
            } catch {
                self.listener.conversation.sendingFailed(flight)
                return error
            }
        }
        if !listener.conversation.isOver { await waitForEnd(of: flight) }
        if listener.conversation.isSendingFailed {
            if let error = await sending.value { throw error }
        } else if listener.conversation.isOver, !listener.conversation.isAnswered {
            sending.cancel()
            if await sending.value != nil { mayBeMidLine = !Family.lineSpoiler.isEmpty }
        }
    }

    /// Removes the flight of a command that the link accepted only in part, or not at all, and returns the error for
    /// the caller of the command.
    func endUnsent(_ command: Family.Command, _ error: LinkError) -> SessionError {
        _ = listener.conversation.removeFlight()
        listener.conversation.doubt(command)
        return SessionError(error, at: text(of: command), outcome: outcome(of: command))
    }

    /// Removes the flight of `command`, which is over, and returns the reply that has ended it.
    ///
    /// - Throws: The error for any other ending.
    func reply(to command: Family.Command, waited: Duration) throws(SessionError) -> Family.Reply {
        let isStop = Family.effect(of: command) == .stop
        if let reply = listener.conversation.removeRepliedFlight(provesPresent: !isStop) { return reply }
        let flight = listener.conversation.removeFlight()
        if flight?.ending?.isAnswer != true { pace.noteGivingUp(readingTime: Family.readingTime) }
        let code: SessionError.Code
        var link: LinkError?
        switch flight?.ending {
        case .refused(let deviceCode):
            throw SessionError(
                .refused, command: text(of: command), outcome: .nothingChanged, deviceCode: deviceCode)
        case .turnedAway(let notice, let isCertain):
            if Family.isFence(command) { listener.conversation.writeOffFence() }
            throw SessionError(
                notice == .overtaken ? .overtaken : .deviceAway, command: text(of: command),
                outcome: isCertain ? .notSent : .unknown)
        case .timedOut:
            let foreignLine = flight?.foreignLine ?? (listener.pending.isEmpty ? nil : listener.pending)
            listener.conversation.doubt(command)
            throw SessionError(
                foreignLine == nil ? .noAnswer : .notUnderstood, command: text(of: command),
                outcome: outcome(of: command), foreignLine: foreignLine, waited: waited)
        case .cancelled: code = .cancelled
        case .overtaken: code = .overtaken
        case .lost(let error):
            code = .linkLost
            link = error
        case .closed, .replied, .notSent, nil: code = .closed
        }
        listener.conversation.doubt(command)
        throw SessionError(code, command: text(of: command), outcome: outcome(of: command), link: link)
    }

    private func outcome(of command: Family.Command) -> SessionError.Outcome {
        Family.effect(of: command) == .query ? .nothingChanged : .unknown
    }

    /// Waits until the flight is over, or has a doubtful error that the session has not handled. If the task is
    /// cancelled, the flight ends as `cancelled`.
    func waitForEnd(of flight: UInt64) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { listener.conversation.wait($0) }
        } onCancel: {
            Task(executorPreference: link.executor) { await self.cancel(flight) }
        }
    }

    private func cancel(_ flight: UInt64) { listener.conversation.cancel(flight) }

    /// Returns the command as text for errors: its bytes up to the line end.
    nonisolated func text(of command: Family.Command) -> String {
        let bytes = Family.encode(command)
        return String(decoding: bytes.prefix { $0 != .lineFeed && $0 != .carriageReturn }, as: UTF8.self)
    }

    // MARK: Time

    /// Sets the deadline of the flight. One task sleeps for all commands: it wakes at the deadline that it knew, and
    /// sleeps again if the deadline is now later.
    func setDeadline(_ newDeadline: Duration) {
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
        if clock.elapsed() >= deadline { listener.conversation.endFlight(.timedOut) } else { setDeadline(deadline) }
    }

    // MARK: Arrivals

    private func take(_ arrival: LinkArrival) {
        switch arrival {
        case .bytes(let bytes): listener.take(bytes)
        case .ended(nil): endLife(as: .closed, .closed)
        case .ended(let error?): lose(error)
        }
    }
}

/// The first or the second sending of a query. Indirect: the error is large, and most queries have none.
private enum Sending {
    case first
    indirect case second(after: SessionError)

    var isFirst: Bool { if case .first = self { true } else { false } }
}

private enum SessionLife {
    case notStarted
    case running
    // Indirect, as in ``Flight/Ending``.
    indirect case lost(LinkError)
    case closed
}
