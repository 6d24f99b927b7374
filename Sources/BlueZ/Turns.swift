/// Lets one at a time through, in the order in which they came.
package final class Turns: @unchecked Sendable {
    // @unchecked: it is touched on the thread of one loop only, by actors whose executor that is.

    private var isTaken = false
    private var waiting: [Outcome<Void>] = []
    private var end: BLEError?

    package init() {}

    /// Waits for the turn, which then lasts until ``release()``.
    ///
    /// - Throws: `cancelled` when the task is, and what the turns were ended with.
    package func take(activity: String) async throws(BLEError) {
        if var end {
            end.activity = activity
            throw end
        }
        if Task.isCancelled { throw BLEError(.cancelled, activity: activity) }
        guard isTaken else {
            isTaken = true
            return
        }
        let turn = Outcome<Void>()
        waiting.append(turn)
        try await turn.wait(activity: activity)
    }

    /// Hands the turn on, to the first that still waits for it.
    package func release() {
        while !waiting.isEmpty {
            if waiting.removeFirst().finish(.success(())) { return }
        }
        isTaken = false
    }

    /// Ends the wait of all, now and later.
    package func end(_ error: BLEError) {
        guard end == nil else { return }
        end = error
        let dismissed = waiting
        waiting = []
        for turn in dismissed { turn.finish(.failure(error)) }
    }
}
