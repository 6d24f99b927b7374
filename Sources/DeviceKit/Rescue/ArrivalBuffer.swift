internal import LineProtocol
internal import Synchronization

/// The messages that have arrived on a link, until a ``MessageIntake`` takes them.
///
/// The link is read even while the store waits for the disk: a serial port buffers only a few kilobytes, and loses
/// further bytes.
final class ArrivalBuffer: Sendable {
    /// The number of arrivals at which reading pauses, which bounds the memory.
    private static let limit = 20_000

    private struct State {
        var arrivals: [RescueArrival] = []
        var ending: Result<Void, LinkError>?
        var isUnwanted = false
        /// Whether ``take()`` must return, even without an arrival.
        var isWoken = false
        /// The waiting caller of ``take()``; nil if none is waiting.
        var taker: UnsafeContinuation<Void, Never>?
        /// The reader that waits for room; nil if it is not waiting.
        var filler: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Whether the reading has ended.
    var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Reads `link` until it ends or the task is cancelled.
    func fill(from link: any Link) async {
        var ending = Result<Void, LinkError>.success(())
        do throws(LinkError) {
            for try await arrivals in RescueArrivals(over: link) { await put(arrivals) }
        } catch {
            ending = .failure(error)
        }
        wakeTaker { $0.ending = ending }
    }

    /// Waits for arrivals or ``wake()``, and removes and returns all arrivals. Returns nil once the link was closed and
    /// all arrivals were taken. Supports one caller at a time.
    ///
    /// - Throws: The `LinkError` that ended the reading, once all arrivals were taken.
    func take() async throws(LinkError) -> [RescueArrival]? {
        await withUnsafeContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = !state.arrivals.isEmpty || state.ending != nil || state.isWoken
                if !isReady { state.taker = continuation }
                return isReady
            }
            if isReady { continuation.resume() }
        }
        let (arrivals, ending, filler) = state.withLock { state in
            defer {
                state.arrivals = []
                state.filler = nil
                state.isWoken = false
            }
            return (state.arrivals, state.ending, state.filler)
        }
        filler?.resume()
        guard arrivals.isEmpty, let ending else { return arrivals }
        try ending.get()
        return nil
    }

    /// Removes and returns all arrivals without waiting.
    func takeRest() -> [RescueArrival] {
        state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
    }

    /// Makes ``take()`` return.
    func wake() { wakeTaker { $0.isWoken = true } }

    /// Ends the buffer: reading no longer waits for room, because nobody will take the arrivals.
    func end() {
        let filler = state.withLock { state in
            state.isUnwanted = true
            defer { state.filler = nil }
            return state.filler
        }
        filler?.resume()
    }

    /// Adds arrivals, and then waits until there is room for more.
    private func put(_ arrivals: [RescueArrival]) async {
        wakeTaker { $0.arrivals += arrivals }
        await withUnsafeContinuation { continuation in
            let hasRoom = state.withLock { state in
                let hasRoom = state.arrivals.count < Self.limit || state.isUnwanted
                if !hasRoom { state.filler = continuation }
                return hasRoom
            }
            if hasRoom { continuation.resume() }
        }
    }

    private func wakeTaker(_ change: (inout State) -> Void) {
        let taker = state.withLock { state in
            change(&state)
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume()
    }
}
