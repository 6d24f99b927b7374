internal import Synchronization

/// An unbounded queue between a producer and one reader, for implementing asynchronous sequences. The methods may be
/// called on any thread.
package final class ArrivalQueue<Element: Sendable, Failure: Error>: Sendable {
    private typealias Outcome = Result<Element?, Failure>

    private struct State {
        var elements: [Element] = []
        /// The number of `elements` that have been read.
        var position = 0
        var reader: UnsafeContinuation<Outcome, Never>?
        /// The result of ``next()`` once `elements` are read; nil while the producer goes on.
        var end: Outcome?

        /// Returns the next element; nil if all were read. Read elements are removed in batches: to remove each one at
        /// once would move all others each time. An empty queue keeps its memory if it is small. The limits are chosen,
        /// not measured.
        mutating func takeFirst() -> Element? {
            guard position < elements.count else { return nil }
            defer {
                position += 1
                if position == elements.count {
                    elements.removeAll(keepingCapacity: elements.count <= 64)
                    position = 0
                } else if position >= 1024, position * 2 >= elements.count {
                    elements.removeFirst(position)
                    position = 0
                }
            }
            return elements[position]
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Appends an element, or hands it to the waiting reader. Does nothing after the end.
    package func append(_ element: Element) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as UnsafeContinuation<Outcome, Never>? }
            if state.reader == nil { state.elements.append(element) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: .success(element))
    }

    /// Ends the sequence after the queued elements, with an error or with nil. Only the first end counts.
    package func end(_ error: Failure?) {
        let outcome: Outcome = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLock { state in
            // A waiting reader gets the outcome now, so later calls return nil.
            if state.end == nil { state.end = state.reader == nil ? outcome : .success(nil) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: outcome)
    }

    /// Waits for the next element; nil at the end, and if the task is cancelled.
    ///
    /// - Throws: The error of ``end(_:)``, once. Later calls return nil.
    /// - Precondition: No other task is waiting.
    package func next() async throws(Failure) -> Element? {
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let outcome: Outcome? = state.withLock { state in
                    precondition(state.reader == nil, "one task iterates a sequence")
                    if Task.isCancelled { return .success(nil) }
                    if let element = state.takeFirst() { return .success(element) }
                    if let end = state.end {
                        state.end = .success(nil)  // later calls return nil
                        return end
                    }
                    state.reader = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: .success(nil))
        }.get()
    }
}
