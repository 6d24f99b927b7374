internal import Synchronization

/// Lets one at a time onto a link, in the order in which they came; those that make a device safe go first, behind them the one
/// whose turn they took, and then those that ask whether the device is safe.
///
///     guard await turns.take() else { return }
///     defer { turns.release() }
package final class TurnQueue: Sendable {
    private struct State {
        var isTaken = false
        /// Also those who have given up meanwhile.
        var waiting: [Place] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes the turn if it is free.
    package func takeIfFree() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Waits for the turn, which then lasts until ``release()``.
    ///
    /// - Returns: Whether it has come; false where the task was cancelled, or all who wait were sent away.
    package func take() async -> Bool {
        if Task.isCancelled { return false }
        if takeIfFree() { return true }
        return await join().isReached()
    }

    /// Takes a place behind those who wait, before the turn is waited for.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether it goes before all who are not urgent.
    ///   - wasOvertaken: Whether it had its turn and gave it up for an urgent one, behind which it comes.
    ///   - isEarly: Whether it goes before all who are neither urgent nor early.
    package func join(isUrgent: Bool = false, wasOvertaken: Bool = false, isEarly: Bool = false) -> Place {
        let place = Place(rank: isUrgent ? .urgent : wasOvertaken ? .overtaken : isEarly ? .early : .ordinary)
        let isFree = state.withLock { state in
            if !state.isTaken {
                state.isTaken = true
                return true
            }
            let index = state.waiting.firstIndex { $0.rank > place.rank }
            state.waiting.insert(place, at: index ?? state.waiting.endIndex)
            return false
        }
        if isFree { place.end(isReached: true) }
        return place
    }

    /// Whether an urgent one waits for its turn.
    package var isUrgentWaiting: Bool { state.withLock { $0.waiting.contains { $0.rank == .urgent && !$0.isOver } } }

    /// Hands the turn on, to the first who still waits for it.
    package func release() {
        state.withLock { state in
            while !state.waiting.isEmpty {
                if state.waiting.removeFirst().end(isReached: true) { return }
            }
            state.isTaken = false
        }
    }

    /// Sends everybody away who waits.
    package func dismissAll() {
        state.withLock { state in
            for place in state.waiting { place.end(isReached: false) }
            state.waiting = []
        }
    }

    /// A place in the queue, for one who waits there.
    package final class Place: Sendable {
        private enum State {
            case taken
            case awaited(UnsafeContinuation<Bool, Never>)
            case over(isReached: Bool)
        }

        /// Which goes first.
        fileprivate enum Rank: Int, Comparable {
            case urgent, overtaken, early, ordinary

            static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
        }

        fileprivate let rank: Rank
        private let state = Mutex(State.taken)

        fileprivate init(rank: Rank) { self.rank = rank }

        fileprivate var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

        /// Ends the wait. Only the first end counts; returns whether it is that.
        @discardableResult
        fileprivate func end(isReached: Bool) -> Bool {
            let (isFirst, waiter) = state.withLock { state in
                defer { if case .over = state {} else { state = .over(isReached: isReached) } }
                return switch state {
                case .taken: (true, nil as UnsafeContinuation<Bool, Never>?)
                case .awaited(let waiter): (true, waiter)
                case .over: (false, nil)
                }
            }
            waiter?.resume(returning: isReached)
            return isFirst
        }

        /// Waits until it is this one's turn.
        ///
        /// - Returns: Whether it is; false where the task was cancelled first, or all who wait were sent away.
        package func isReached(isolation: isolated (any Actor)? = #isolation) async -> Bool {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let end = state.withLock { state in
                        if case .over(let isReached) = state { return Optional(isReached) }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let end { continuation.resume(returning: end) }
                }
            } onCancel: {
                end(isReached: false)
            }
        }
    }
}
