/// Actions and when they are due, earliest first.
struct TimerQueue {
    /// Names one timer until it fires or is removed.
    struct Token: Hashable, Sendable {
        fileprivate let deadline: ContinuousClock.Instant
        fileprivate let id: UInt64
    }

    private var timers: [(token: Token, action: @Sendable () -> Void)] = []
    private var lastID: UInt64 = 0

    /// When the earliest is due.
    var next: ContinuousClock.Instant? { timers.last?.token.deadline }

    mutating func add(deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Token {
        lastID += 1
        let token = Token(deadline: deadline, id: lastID)
        // Latest first, so that the earliest is taken off the end; a new timer is mostly among the latest.
        let index = timers.firstIndex { $0.token.deadline <= deadline } ?? timers.endIndex
        timers.insert((token, action), at: index)
        return token
    }

    mutating func remove(_ token: Token) {
        timers.removeAll { $0.token == token }
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
