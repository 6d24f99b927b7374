extension Session {
    /// How long an acknowledgement of a stop is waited for before it is sent again. A pump answers within 250 ms; what is
    /// sent twice does no harm.
    static var stopInterval: Duration { .milliseconds(500) }
    /// How long it is waited for behind an error: that of a half-sent line is followed by the acknowledgement.
    static var stopIntervalAfterError: Duration { .milliseconds(250) }

    /// Makes the device safe, before all that is in flight or waits.
    ///
    /// It runs in a task of its own: what cancels the caller does not keep the device from being made safe.
    func stop(by rule: StopRule<Family>, timeout: Duration) async throws(SessionError) -> Family.Reply {
        stopsRequested += 1
        let hasTurn = turns.takeIfFree()
        let stopping = Task.immediate(executorPreference: link.executor) {
            () -> Result<Family.Reply, SessionError> in
            do throws(SessionError) {
                return .success(try await self.stop(by: rule, timeout: timeout, hasTurn: hasTurn))
            } catch {
                return .failure(error)
            }
        }
        return try await stopping.value.get()
    }

    private func stop(
        by rule: StopRule<Family>, timeout: Duration, hasTurn: Bool
    ) async throws(SessionError) -> Family.Reply {
        if !hasTurn { try await waitForTurn(rule.command, isUrgent: true) }
        listener.conversation.begin(rule)
        var count = 0
        // Whether one that brought no answer may have reached the device.
        var mayHaveArrived = false
        defer {
            listener.conversation.endStop(isOwedAnswer: mayHaveArrived && count > 1)
            turns.release()
        }
        // The acknowledgement may be that of another program's OFF, behind which its ON comes, unless this session has heard
        // the device answer and is owed no reply.
        let mustConfirm = listener.conversation.hearsThePast || !listener.conversation.areErrorsOwn
        var rule = rule
        if mustConfirm { rule.command = Family.untold(rule.command) }
        let end = clock.elapsed() + timeout
        let silence = SessionError(.noAnswer, command: text(of: rule.command), outcome: .unknown)
        var failure = silence
        var refusals = 0
        while clock.elapsed() < end {
            count += 1
            do throws(SessionError) {
                let reply = try await sendStop(rule, until: min(end, clock.elapsed() + Self.stopInterval))
                if !mustConfirm { return reply }
                (failure, refusals, mayHaveArrived) = (silence, 0, true)
            } catch {
                switch error.code {
                case .noAnswer, .notUnderstood, .refused: break
                case .deviceAway:
                    // It may be back before the time is over.
                    mayHaveArrived = mayHaveArrived || error.outcome != .notSent
                    failure = mayHaveArrived ? error.ofUnknownOutcome : error
                    await pause(until: min(end, clock.elapsed() + Self.stopIntervalAfterError))
                    continue
                case .linkLost, .closed, .cancelled, .overtaken: throw mayHaveArrived ? error.ofUnknownOutcome : error
                }
                mayHaveArrived = true
                if error.code != .noAnswer {
                    failure = error
                } else if failure.code == .deviceAway {
                    failure.outcome = .unknown
                }
                refusals = error.code == .refused ? refusals + 1 : 0
            }
            if listener.conversation.isStopHeard, !mustConfirm { break }
            // It may be the answer that gets lost, also among errors: only every other one has it sent again unasked.
            guard refusals.isMultiple(of: 2), count > 1 || listener.conversation.isStopHeard else { continue }
            if try await isSafe(by: rule, until: end) { break }
        }
        let isHeard = listener.conversation.isStopHeard && !mustConfirm
        if isHeard || listener.conversation.isFoundSafe { return rule.reply }
        failure.waited = timeout
        throw failure
    }

    /// Sends a stop once.
    ///
    /// - Throws: `noAnswer`, `notUnderstood`, or `refused` where an error came that may be its answer: it is to be sent
    ///   again. Anything else is final.
    private func sendStop(
        _ rule: StopRule<Family>, until newDeadline: Duration
    ) async throws(SessionError) -> Family.Reply {
        try checkLife(for: rule.command)
        let id = listener.conversation.begin(rule.command, errors: .doubtful, isSpoilerSent: false)
        setDeadline(newDeadline)
        do throws(LinkError) {
            // The stop begins with a line end, so no spoiler is needed.
            mayBeMidLine = false
            if !isStopBeingSent, pace.takeStop(at: clock.elapsed()), try !link.sendAtOnce(rule.bytes) {
                sendWhenPossible(rule.bytes, of: id)
            }
        } catch {
            throw endUnsent(rule.command, error)
        }
        if !listener.conversation.isOver { await waitForEnd(of: id) }
        let refusal = listener.conversation.takeDoubtfulError(.ignored)
        if refusal != nil, !listener.conversation.isOver {
            setDeadline(min(newDeadline, clock.elapsed() + Self.stopIntervalAfterError))
            await waitForEnd(of: id)
        }
        deadline = nil
        do throws(SessionError) {
            let answer = try reply(to: rule.command, waited: .zero)
            pace.noteStopAnswer()
            return answer
        } catch {
            if error.code == .deviceAway { pace.noteStopAnswer() }
            guard let refusal, error.code == .noAnswer || error.code == .notUnderstood else { throw error }
            throw SessionError(.refused, command: error.command, outcome: .unknown, deviceCode: refusal)
        }
    }

    /// Sends what the link does not take at once, also beyond the end of the flight.
    private func sendWhenPossible(_ bytes: [UInt8], of flight: UInt64) {
        isStopBeingSent = true
        Task(executorPreference: link.executor) {
            do throws(LinkError) { try await self.link.send(bytes) } catch {
                self.listener.conversation.stopSendingFailed(flight, error)
            }
            await self.stopWasTaken()
        }
    }

    private func stopWasTaken() { isStopBeingSent = false }

    /// Asks the device whether it is safe. Replies to earlier queries are ignored.
    private func isSafe(by rule: StopRule<Family>, until end: Duration) async throws(SessionError) -> Bool {
        guard let query = Family.statusQuery else { return false }
        do throws(SessionError) {
            if let fence = Family.fence {
                _ = try await ask(fence, until: end)
                await waitForOwedFences(within: min(Self.stopInterval, (end - clock.elapsed()).half))
            }
            let isSafe = rule.isSafe(try await ask(query, until: end))
            if isSafe { listener.conversation.findSafe() }
            return isSafe
        } catch {
            guard error.code == .noAnswer || error.code == .notUnderstood || error.code == .deviceAway else {
                // It is the stop that did not come about: the question's own failure would say that nothing has changed.
                throw SessionError(error.code, command: text(of: rule.command), outcome: .unknown, link: error.link)
            }
            return false
        }
    }

    private func ask(_ query: Family.Command, until end: Duration) async throws(SessionError) -> Family.Reply {
        let time = min(Self.stopInterval, end - clock.elapsed())
        guard time > .zero else { throw SessionError(.noAnswer, command: text(of: query), outcome: .notSent) }
        return try await exchange(query, timeout: time, errors: .ignored, since: stopsRequested)
    }
}
