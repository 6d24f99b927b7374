/// Actions and when they are due, earliest first.
struct TimerQueue {
    /// Names one timer until it fires or is removed.
    struct Token: Hashable, Sendable {
        fileprivate let deadline: ContinuousClock.Instant
        fileprivate let id: UInt64
    }

    /// Latest first, so that the earliest is taken off the end; of equal ones the one that came later.
    private var timers: [(token: Token, action: @Sendable () -> Void)] = []
    private var lastID: UInt64 = 0

    /// When the earliest is due.
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

    /// Where a timer stands, or would stand, found by halves.
    private func place(of token: Token) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            let other = timers[middle].token
            if (other.deadline, other.id) > (token.deadline, token.id) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Takes out what is due at `instant`, earliest first.
    mutating func takeDue(at instant: ContinuousClock.Instant) -> [@Sendable () -> Void] {
        var due: [@Sendable () -> Void] = []
        while let last = timers.last, last.token.deadline <= instant {
            due.append(last.action)
            timers.removeLast()
        }
        return due
    }
}
