/// Lets one command at a time onto the link, in the order in which they came; those that make a device safe go first.
///
/// It is not a lock: it belongs to an actor and is touched on that actor only.
struct TurnQueue {
    private var isTaken = false
    private var waiting: [(id: UInt64, isUrgent: Bool, continuation: UnsafeContinuation<Bool, Never>)] = []
    private var lastID: UInt64 = 0
    /// Number of stops requested. A change that was queued before a stop is dropped.
    private(set) var urgentCount: UInt64 = 0

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

    /// Notes that an urgent one has come.
    mutating func announceUrgent() { urgentCount += 1 }

    /// Whether an urgent one waits for its turn.
    var isUrgentWaiting: Bool { waiting.first?.isUrgent == true }

    /// Resumed with true once it is this one's turn, with false if it gave up.
    mutating func wait(_ id: UInt64, isUrgent: Bool, _ continuation: UnsafeContinuation<Bool, Never>) {
        let index = isUrgent ? waiting.firstIndex { !$0.isUrgent } : nil
        waiting.insert((id, isUrgent, continuation), at: index ?? waiting.endIndex)
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
