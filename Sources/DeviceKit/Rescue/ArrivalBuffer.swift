internal import LineProtocol
internal import Synchronization

/// What has arrived on a link and was not stored yet.
///
/// The link is read while others wait for the disk: a serial port keeps few kilobytes, and what is more is lost.
final class ArrivalBuffer: Sendable {
    /// How many arrivals are kept before the link is left to wait.
    private static let limit = 20_000

    private struct State {
        var arrivals: [RescueArrival] = []
        var ending: Result<Void, LinkError>?
        var isUnwanted = false
        /// Whoever takes is to be back, though nothing may have come.
        var isWoken = false
        /// Wait for something to take, or for room.
        var taker: UnsafeContinuation<Void, Never>?
        var filler: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Reads `link` to its end, or until nothing more is wanted.
    func fill(from link: any Link) async {
        var ending = Result<Void, LinkError>.success(())
        do throws(LinkError) {
            for try await arrivals in RescueArrivals(over: link) { await put(arrivals) }
        } catch {
            ending = .failure(error)
        }
        wakeTaker { $0.ending = ending }
    }

    /// All that is there; waits for something, or for ``wake()``. Nil once the link was closed.
    ///
    /// - Throws: `LinkError` where the far end is gone and all was taken. For one task at a time.
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

    /// All that is there, without waiting for more.
    func takeRest() -> [RescueArrival] {
        state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
    }

    /// Lets ``take()`` come back.
    func wake() { wakeTaker { $0.isWoken = true } }

    /// Nothing will be taken any more.
    func end() {
        let filler = state.withLock { state in
            state.isUnwanted = true
            defer { state.filler = nil }
            return state.filler
        }
        filler?.resume()
    }

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
