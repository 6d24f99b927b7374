/// Separates stale lines from new ones. The device answers in order, so a line after the reply to a fence is not older
/// than the fence.
extension Session {
    /// Sends the fence and waits for its reply. Lines heard before the reply may be stale, later ones are new.
    ///
    /// - Parameters:
    ///   - fence: The fence of the family.
    ///   - command: The command that waits for the fence. Errors name this command.
    ///   - timeout: The time limit for the reply, including a repetition.
    ///   - isRepeated: Whether to send the fence a second time after half of the timeout, like other queries. The first
    ///     reply is not recognized if it follows a line whose end was lost, as happens while a port is opened.
    ///   - stopCount: As for `checkMaySend(_:since:)`.
    /// - Throws: The failure of the fence. The outcome of `command` is then `notSent`.
    func passFence(
        _ fence: Family.Command, before command: Family.Command, timeout: Duration, isRepeated: Bool,
        since stopCount: UInt64
    ) async throws(SessionError) {
        let attemptTime = isRepeated ? timeout.half : timeout
        var firstError: SessionError?
        while true {
            do throws(SessionError) {
                _ = try await exchange(fence, timeout: attemptTime, errors: .ignored, since: stopCount)
                return await waitForOwedFences(within: Self.lateReplyTime)
            } catch {
                if isRepeated, error.isSilence, firstError == nil {
                    firstError = error
                    continue
                }
                var error = firstError.map(error.following) ?? error
                error.command = text(of: command)
                error.outcome = .notSent
                throw error
            }
        }
    }

    /// The longest wait for the replies to fences that were sent earlier. A pump replies within 250 ms.
    static var lateReplyTime: Duration { .seconds(1) }

    /// Waits for as many replies as fences are unanswered, since the reply that came may answer an earlier fence.
    /// Replies that do not come in time count as lost.
    func waitForOwedFences(within time: Duration) async {
        guard let fence = Family.fence else { return }
        let end = clock.elapsed() + time
        while listener.conversation.owedFences > 0, clock.elapsed() < end {
            let id = listener.conversation.begin(fence, errors: .ignored, isSpoilerSent: false)
            setDeadline(end)
            await waitForEnd(of: id)
            deadline = nil
            let isReplied = listener.conversation.removeRepliedFlight() != nil
            _ = listener.conversation.removeFlight()
            if !isReplied { break }
        }
        if clock.elapsed() >= end { listener.conversation.forgetOwedFences() }
    }

    /// Finds out whether a doubtful error answers this command. A query is sent again. After a change the fence is
    /// sent: a device that has carried out the change reports it before it answers the fence.
    func clearUpError(of flight: UInt64, _ command: Family.Command) async throws(LinkError) {
        guard let fence = Family.fence, listener.conversation.takeDoubtfulError(.ignored) != nil,
            !listener.conversation.isOver
        else { return }
        let isQuery = Family.effect(of: command) == .query
        if isQuery {
            if Family.isFence(command) { listener.conversation.sendsFence() }
        } else {
            listener.conversation.fenceFlight()
        }
        let bytes = Family.encode(isQuery ? command : fence)
        if try !link.sendAtOnce(bytes) {
            try await send(bytes, of: flight, isCommand: false)
        } else if !listener.conversation.isOver {
            await waitForEnd(of: flight)
        }
    }
}
