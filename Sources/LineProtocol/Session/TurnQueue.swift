/// Lets one command at a time onto the link, in the order in which they came.
///
/// It is not a lock: it belongs to an actor and is touched on that actor only.
struct TurnQueue {
    private var isTaken = false
    private var waiting: [(id: UInt64, continuation: UnsafeContinuation<Bool, Never>)] = []
    private var lastID: UInt64 = 0

    /// Whether a command waits for its turn.
    var hasWaiters: Bool { !waiting.isEmpty }

    /// Takes the turn if it is free.
    mutating func takeIfFree() -> Bool {
        guard !isTaken else { return false }
        isTaken = true
        return true
    }

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Resumed with true once it is this one's turn, with false if it gave up.
    mutating func wait(_ id: UInt64, _ continuation: UnsafeContinuation<Bool, Never>) {
        waiting.append((id, continuation))
    }

    mutating func giveUp(_ id: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    /// Hands the turn on.
    mutating func release() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().continuation.resume(returning: true)
        }
    }

    /// Sends everybody away who waits.
    mutating func dismissAll() {
        let dismissed = waiting
        waiting = []
        for waiter in dismissed { waiter.continuation.resume(returning: false) }
    }
}
