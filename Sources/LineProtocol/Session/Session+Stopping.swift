extension Session {
    /// The time limit for the acknowledgement of a stop, and for the reply to each query after it. A pump replies
    /// within 250 ms.
    static var stopInterval: Duration { .milliseconds(500) }
    /// The time limit for an acknowledgement after an error. If the error answered a half-sent line, the
    /// acknowledgement follows. Also the pause before a stop is sent again to a server that can't reach the device.
    static var stopIntervalAfterError: Duration { .milliseconds(250) }
    /// The least time by which a stop is extended at a time, if lines come from the device: enough for the replies to a
    /// stop, a fence and a status query, each of which a pump sends within 250 ms. A short timeout would leave no time
    /// for the status.
    private static var leastExtension: Duration { .milliseconds(750) }
    /// The longest time by which a stop is extended, if lines come from the device but its status can't be read.
    ///
    /// By the pump protocol, the 63 bytes that a UART keeps are 31 lines at most, and the firmware reads one line in
    /// each turn of its loop, 159 ms at most: about 5 s.
    public static var stopExtension: Duration { .seconds(6) }

    /// Makes the device safe, before all commands that are in flight or wait.
    ///
    /// The stop runs in a separate task, so that it goes on if the caller is cancelled.
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
        var progress = StopProgress(text(of: rule.command))
        defer {
            listener.conversation.endStop(isOwedAnswer: progress.mayHaveArrived && progress.count > 1)
            turns.release()
        }
        let start = clock.elapsed()
        var (end, heardCount) = (start + timeout, listener.conversation.heardCount)
        while clock.elapsed() < end {
            let next = clock.elapsed() + Self.stopInterval
            progress.count += 1
            try await sendStop(rule, until: min(end, next), &progress)
            // The acknowledgement proves nothing: it may be for another program, and a firmware may acknowledge OFF and
            // keep running.
            if progress.asksForState {
                switch try await state(by: rule, until: end) {
                case .safe: return rule.reply
                case .unsafe(let state):
                    progress.unsafeState = state
                    await pause(until: min(end, next))
                case .unread: break
                }
            }
            // The device may still be busy with lines of other programs.
            if progress.unsafeState == nil, heardCount != listener.conversation.heardCount {
                heardCount = listener.conversation.heardCount
                let time = max(timeout, Self.leastExtension)
                end = max(end, min(clock.elapsed() + time, start + timeout + Self.stopExtension))
            }
        }
        throw progress.failure(waited: clock.elapsed() - start)
    }

    /// Sends a stop once, and waits for its acknowledgement.
    ///
    /// - Throws: An error that ends the stop. After all other errors, which `progress` notes, the stop is repeated.
    private func sendStop(
        _ rule: StopRule<Family>, until newDeadline: Duration, _ progress: inout StopProgress
    ) async throws(SessionError) {
        do throws(SessionError) {
            _ = try await sendStop(rule, until: newDeadline)
            progress.noteAcknowledgement()
        } catch {
            switch error.code {
            case .noAnswer, .notUnderstood, .refused: progress.note(error)
            case .deviceAway:
                // The server may reach the device again before the time is over.
                progress.note(error)
                await pause(until: min(newDeadline, clock.elapsed() + Self.stopIntervalAfterError))
            default: throw progress.mayHaveArrived ? error.ofUnknownOutcome : error
            }
        }
        if listener.conversation.isStopHeard { progress.isAcknowledged = true }
    }

    /// Sends a stop once, and waits for its acknowledgement until `newDeadline`. Only waits, and sends nothing, if the
    /// link has not yet accepted the last stop, or if too many stops are unanswered (``SendingPace``).
    ///
    /// - Throws: `noAnswer`, `notUnderstood`, `deviceAway`, or `refused` (an error came that may be the answer): the
    ///   stop has to be sent again. All other errors are final.
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

    /// Sends the bytes of a stop that the link does not accept at once. The sending goes on after the end of the
    /// flight.
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

    private enum StopState {
        case safe
        /// The device reports the given state, which is not safe.
        case unsafe(String)
        /// The device has not answered in time, or a server can't reach it.
        case unread
    }

    /// Queries the state of the device; if the family has a fence, after it, so that no reply to an earlier query
    /// counts.
    private func state(by rule: StopRule<Family>, until end: Duration) async throws(SessionError) -> StopState {
        guard let query = Family.statusQuery else { return .unread }
        do throws(SessionError) {
            if let fence = Family.fence {
                _ = try await ask(fence, until: end)
                // The other half of the time is left for the query of the state.
                await waitForOwedFences(within: min(Self.stopInterval, (end - clock.elapsed()).half))
            }
            let answer = try await ask(query, until: end)
            return rule.unsafeState(answer).map { .unsafe($0) } ?? .safe
        } catch {
            guard error.code == .noAnswer || error.code == .notUnderstood || error.code == .deviceAway else {
                // Report the failure of the stop: the query's own error would say that nothing has changed.
                throw SessionError(error.code, command: text(of: rule.command), outcome: .unknown, link: error.link)
            }
            return .unread
        }
    }

    /// Sends one query of a stop, and waits for its reply until `end`, but not longer than ``stopInterval``. Throws
    /// `noAnswer` without sending if too many stops and queries are unanswered (``SendingPace``).
    private func ask(_ query: Family.Command, until end: Duration) async throws(SessionError) -> Family.Reply {
        let time = min(Self.stopInterval, end - clock.elapsed())
        guard time > .zero else { throw SessionError(.noAnswer, command: text(of: query), outcome: .notSent) }
        guard pace.takeStop(at: clock.elapsed(), isQuestion: true) else {
            await pause(until: min(end, clock.elapsed() + Family.readingTime))
            throw SessionError(.noAnswer, command: text(of: query), outcome: .notSent)
        }
        let answer = try await exchange(query, timeout: time, errors: .ignored, since: stopsRequested)
        pace.noteStopAnswer()
        return answer
    }
}
