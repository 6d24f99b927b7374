internal import Synchronization

/// Gives access to a link to one task at a time, in order of arrival, with three exceptions. Tasks that make a device
/// safe (urgent) go first, then tasks that have given up their turn to an urgent task, then tasks that ask whether the
/// device is safe (early).
///
///     guard await turns.take() else { return }
///     defer { turns.release() }
package final class TurnQueue: Sendable {
    private struct State {
        var isTaken = false
        /// The places in order, including the places of tasks that no longer wait.
        var waiting: [Place] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes the turn if it is free, and returns whether it was.
    package func takeIfFree() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Waits for the turn, which then lasts until ``release()``.
    ///
    /// - Returns: Whether the turn has come; false if the task was cancelled, or if all waiting tasks were dismissed.
    package func take() async -> Bool {
        if Task.isCancelled { return false }
        if takeIfFree() { return true }
        return await join().isReached()
    }

    /// Takes a place in the queue, or the turn if it is free. The caller waits with ``Place/isReached(isolation:)``,
    /// and must release a turn that it gets.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether the place precedes all that are not urgent.
    ///   - wasOvertaken: Whether the caller has given up its turn for an urgent task. Its place follows the urgent
    ///     ones.
    ///   - isEarly: Whether the place precedes all ordinary ones.
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

    /// Whether an urgent task waits for its turn.
    package var isUrgentWaiting: Bool { state.withLock { $0.waiting.contains { $0.rank == .urgent && !$0.isOver } } }

    /// Passes the turn to the first task that still waits. If no task waits, the turn is free.
    package func release() {
        state.withLock { state in
            while !state.waiting.isEmpty {
                if state.waiting.removeFirst().end(isReached: true) { return }
            }
            state.isTaken = false
        }
    }

    /// Ends the wait of all tasks: they do not get the turn.
    package func dismissAll() {
        state.withLock { state in
            for place in state.waiting { place.end(isReached: false) }
            state.waiting = []
        }
    }

    /// The place of one task in the queue.
    package final class Place: Sendable {
        private enum State {
            case taken
            case awaited(UnsafeContinuation<Bool, Never>)
            case over(isReached: Bool)
        }

        /// The order of places.
        fileprivate enum Rank: Int, Comparable {
            case urgent, overtaken, early, ordinary

            static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
        }

        fileprivate let rank: Rank
        private let state = Mutex(State.taken)

        fileprivate init(rank: Rank) { self.rank = rank }

        fileprivate var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

        /// Ends the wait, and returns whether it had not ended before. Only the first end counts.
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

        /// Waits for the turn.
        ///
        /// - Returns: Whether the turn has come; false if the task was cancelled first, or if all waiting tasks were
        ///   dismissed.
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
