internal import Synchronization

/// What a scan finds, or what a characteristic tells, in the order in which it came.
///
/// What comes while nobody reads is kept without bound. One task may iterate. The sequence ends when that task is
/// cancelled, or it was asked to by ``cancel()``; it throws when what it comes from is gone. When it is let go, bluetoothd
/// is told that nothing more is wanted.
public final class BLESequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = BLEError

    private let queue: EventQueue<Element>
    private let stop: @Sendable () -> Void

    init(_ queue: EventQueue<Element>, stop: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.stop = stop
    }

    deinit { stop() }

    /// Ends the sequence. Cancelling twice is allowed.
    public func cancel() {
        stop()
        queue.end(nil)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    /// Waits for the sequence's next element.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: BLESequence

        public mutating func next() async throws(BLEError) -> Element? { try await sequence.queue.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> Element? {
            try await sequence.queue.next()
        }
    }
}

/// What nobody has read yet, or who waits for it.
final class EventQueue<Element: Sendable>: Sendable {
    private typealias Outcome = Result<Element?, BLEError>

    private struct State {
        var elements: [Element] = []
        var reader: UnsafeContinuation<Outcome, Never>?
        var end: Outcome?
    }

    private let state = Mutex(State())

    func append(_ element: Element) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as UnsafeContinuation<Outcome, Never>? }
            if state.reader == nil { state.elements.append(element) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: .success(element))
    }

    /// Lets the sequence end behind what is there, with an error or without.
    func end(_ error: BLEError?) {
        let outcome: Outcome = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLock { state in
            if state.end == nil { state.end = outcome }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: outcome)
    }

    func next() async throws(BLEError) -> Element? {
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let outcome: Outcome? = state.withLock { state in
                    precondition(state.reader == nil, "one task iterates a sequence")
                    if Task.isCancelled { return .success(nil) }
                    if !state.elements.isEmpty { return .success(state.elements.removeFirst()) }
                    if let end = state.end {
                        state.end = .success(nil)  // an error is thrown once
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
