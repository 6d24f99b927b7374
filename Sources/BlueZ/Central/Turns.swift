package import DescriptorIO

/// Lets one at a time through, in the order in which they came.
package final class Turns: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its loop only.

    private let loop: EventLoop
    private var isTaken = false
    private var waiting: [Outcome<Void>] = []
    private var end: BLEError?

    package init(on loop: EventLoop) { self.loop = loop }

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
        let turn = Outcome<Void>(on: loop)
        waiting.append(turn)
        do throws(BLEError) { try await turn.wait(activity: activity) } catch {
            // It may have got the turn just when it gave up.
            if let index = waiting.firstIndex(where: { $0 === turn }) {
                waiting.remove(at: index)
            } else if end == nil {
                release()
            }
            throw error
        }
    }

    /// Hands the turn on.
    package func release() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().finish(.success(()))
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
