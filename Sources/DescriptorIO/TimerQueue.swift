/// Actions with deadlines, earliest first.
struct TimerQueue {
    /// The ID of a timer, valid until it fires or is removed.
    struct Token: Hashable, Sendable {
        fileprivate let deadline: ContinuousClock.Instant
        fileprivate let id: UInt64
    }

    /// The timers, latest deadline first, so that the earliest timer is at the end of the array, where removal is
    /// cheap. Among equal deadlines, the timer added last is first.
    private var timers: [(token: Token, action: @Sendable () -> Void)] = []
    private var lastID: UInt64 = 0

    /// The earliest deadline.
    var next: ContinuousClock.Instant? { timers.last?.token.deadline }

    mutating func add(deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Token {
        lastID += 1
        let token = Token(deadline: deadline, id: lastID)
        timers.insert((token, action), at: place(of: token))
        return token
    }

    mutating func remove(_ token: Token) {
        let index = place(of: token)
        if index < timers.count, timers[index].token == token { timers.remove(at: index) }
    }

    /// Returns the index at which a timer is, or would be inserted, by binary search.
    private func place(of token: Token) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            let other = timers[middle].token
            if (other.deadline, other.id) > (token.deadline, token.id) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes and returns the actions that are due at `instant`, earliest first.
    mutating func takeDue(at instant: ContinuousClock.Instant) -> [@Sendable () -> Void] {
        var due: [@Sendable () -> Void] = []
        while let last = timers.last, last.token.deadline <= instant {
            due.append(last.action)
            timers.removeLast()
        }
        return due
    }
}
