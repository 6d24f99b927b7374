/// Finding out what has become of a command that brought no reply.
extension Session {
    /// Asks the device for its state where a command has put it in doubt. ``state`` has it then.
    ///
    /// - Parameters:
    ///   - error: What the command threw.
    ///   - timeout: How long to wait for the answer.
    /// - Returns: What the device answers to ``DeviceFamily/statusQuery``. Nil where nothing is in doubt, where the command
    ///   was cancelled or the link is lost, and where no answer comes.
    public func reconcile(after error: SessionError, timeout: Duration = defaultTimeout) async -> Family.Reply? {
        guard error.outcome == .unknown, error.code != .cancelled, let query = Family.statusQuery else { return nil }
        return try? await perform(query, timeout: timeout)
    }

    /// Sends a change, and where no answer comes in half of the time asks the device whether it is in effect.
    ///
    /// For devices that may take a change without a word. Where the family can't tell it is as ``perform(_:timeout:)``.
    ///
    /// - Returns: The reply to the change; nil where only the state tells that it is in effect.
    /// - Throws: As ``perform(_:timeout:)``; the outcome is `nothingChanged` where the device says that it is not in effect,
    ///   and unknown only where nothing answers.
    public func performAndConfirm(
        _ change: Family.Command, timeout: Duration = defaultTimeout
    ) async throws(SessionError) -> Family.Reply? {
        guard Family.effect(of: change) == .change, let query = Family.statusQuery(behind: change) else {
            return try await perform(change, timeout: timeout)
        }
        var failure: SessionError
        do throws(SessionError) { return try await perform(change, timeout: timeout.half) } catch { failure = error }
        guard failure.code == .noAnswer || failure.code == .notUnderstood else { throw failure }
        do throws(SessionError) {
            let answer = try await perform(query, timeout: timeout.half)
            switch Family.isInEffect(change, by: answer) {
            case true?: return nil
            case false?: failure.outcome = .nothingChanged
            case nil: break
            }
        } catch {
            // What became of the change is unknown, not of the question.
            failure.waited = timeout
            failure.foreignLine = failure.foreignLine ?? error.foreignLine
        }
        throw failure
    }
}
