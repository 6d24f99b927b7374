extension Session {
    /// The longest time that a board takes to start after a reset: 2 to 4 s on a Nano, and as much again for safety.
    public static var startTime: Duration { .seconds(8) }

    /// Waits until the device answers. Returns at once if the family has no query.
    ///
    /// A board that was reset reads nothing while its bootloader and its `setup` run: 2 to 4 s on a Nano. This time
    /// differs from board to board, so the function repeats a query instead of sleeping for a fixed time. The query
    /// changes nothing. If the bootloader takes the query for one of its own commands, the firmware starts even sooner.
    ///
    /// - Parameter limit: The time after which no further query is sent. The last query may take some seconds more.
    /// - Throws: `noAnswer` or `notUnderstood` if the device did not answer within `limit`; any other error of
    ///   `perform(_:timeout:)`, such as `linkLost`, at once. ``SessionError/command`` is then a description, because
    ///   the caller has requested no command.
    public func waitUntilReady(within limit: Duration = Session.startTime) async throws(SessionError) {
        guard let query = Family.fence ?? Family.statusQuery else { return }
        let start = clock.elapsed()
        while true {
            do throws(SessionError) {
                // A board that was not ready has not read the earlier queries, so their replies are not awaited.
                listener.conversation.forgetOwedFences()
                _ = try await perform(query, timeout: .seconds(1), isProbe: true)
                return
            } catch {
                // A refusal proves that the device listens; it may have got only a line's tail while booting.
                if error.code == .refused { return }
                let waited = clock.elapsed() - start
                guard error.isSilence, waited < limit else {
                    var failure = error
                    (failure.command, failure.outcome) = ("the first query", .notSent)
                    if failure.isSilence { failure.waited = waited }
                    throw failure
                }
                wasDeviceSilent = true
            }
        }
    }
}
