extension Session {
    /// How long a board that was reset may take to start: 2 to 4 s on a Nano, and as much again to be safe.
    public static var startTime: Duration { .seconds(8) }

    /// Waits until the device answers.
    ///
    /// A board that was reset hears nothing while its bootloader and its `setup` run, 2 to 4 s on a Nano. How long
    /// differs from board to board, so this asks, and asks again, and does not sleep for a guess. What it asks changes
    /// nothing, and if the bootloader takes it for one of its own commands it starts the firmware all the sooner.
    ///
    /// - Parameter limit: When to give up; the last question may take a second longer.
    /// - Throws: `noAnswer` or `notUnderstood` after `limit`; `linkLost`. None names a command: the caller has asked for none.
    public func waitUntilReady(within limit: Duration = Session.startTime) async throws(SessionError) {
        guard let query = Family.fence ?? Family.statusQuery else { return }
        let start = clock.elapsed()
        while true {
            do throws(SessionError) {
                // What a board did not answer before it was ready it does not answer later.
                listener.conversation.forgetOwedFences()
                _ = try await perform(query, timeout: .seconds(1), isProbe: true)
                return
            } catch {
                // A refusal proves that the device listens; it may have got only a line's tail while booting.
                if error.code == .refused { return }
                let waited = clock.elapsed() - start
                guard error.isSilence, waited < limit else {
                    var failure = error
                    (failure.command, failure.outcome) = ("the first question", .notSent)
                    if failure.isSilence { failure.waited = waited }
                    throw failure
                }
                wasDeviceSilent = true
            }
        }
    }
}
