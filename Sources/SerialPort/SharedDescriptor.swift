import Glibc
import Synchronization

/// A descriptor that many threads use, and that is closed after it was retired and its last use has ended.
///
/// If one thread closes a descriptor just before another thread uses it, the number may by then name another file. So
/// each use borrows the descriptor; retiring it prevents new uses, and the end of the last use closes it.
final class SharedDescriptor: Sendable {
    private struct State {
        var uses = 0
        var isRetired = false
    }

    /// The descriptor's number. Only a borrower may pass it to a system call.
    let number: CInt
    private let state = Mutex(State())

    /// Takes ownership of an open descriptor.
    init(_ number: CInt) {
        self.number = number
    }

    deinit {
        // The last borrower closes a retired descriptor; borrowers keep this object alive.
        let isRetired = state.withLock { $0.isRetired }
        if !isRetired { close(number) }
    }

    /// Whether the descriptor is retired, so that no new use may begin.
    var isRetired: Bool { state.withLock { $0.isRetired } }

    /// Begins a use, which ``giveBack()`` must end. Returns nil if the descriptor is retired.
    func borrow() -> CInt? {
        state.withLock { state in
            guard !state.isRetired else { return nil }
            state.uses += 1
            return number
        }
    }

    /// Retires the descriptor, and begins a last use, which ``giveBack()`` must end. Uses that began earlier may end
    /// later. Returns nil for all but the first call.
    func retire() -> CInt? {
        state.withLock { state in
            guard !state.isRetired else { return nil }
            state.isRetired = true
            state.uses += 1
            return number
        }
    }

    /// Ends a use. The end of the last use of a retired descriptor closes it.
    func giveBack() {
        let isLast = state.withLock { state in
            state.uses -= 1
            return state.isRetired && state.uses == 0
        }
        // Never retry: on Linux, close(2) frees the number whatever it returns, even EINTR.
        if isLast { close(number) }
    }
}
