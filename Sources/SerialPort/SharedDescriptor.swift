import Glibc
import Synchronization

/// A descriptor that many threads use and one closes.
///
/// A number that is closed while another thread is about to use it may by then name another file. So each use borrows
/// the descriptor, retiring it lets no new use begin, and whoever gives it back last closes it.
final class SharedDescriptor: Sendable {
    private struct State {
        var uses = 0
        var isRetired = false
    }

    /// The number. Only a borrower may pass it to the system.
    let number: CInt
    private let state = Mutex(State())

    /// Takes over an open descriptor.
    init(_ number: CInt) {
        self.number = number
    }

    deinit {
        // A retired descriptor was closed by its last borrower; borrowers keep this object alive.
        let isRetired = state.withLock { $0.isRetired }
        if !isRetired { close(number) }
    }

    /// Whether no new use may begin.
    var isRetired: Bool { state.withLock { $0.isRetired } }

    /// Begins a use; nil once retired. Each is ended by ``giveBack()``.
    func borrow() -> CInt? {
        state.withLock { state in
            guard !state.isRetired else { return nil }
            state.uses += 1
            return number
        }
    }

    /// Lets no new use begin, and begins the last one, which is ended by ``giveBack()``; nil for all but the first call.
    func retire() -> CInt? {
        state.withLock { state in
            guard !state.isRetired else { return nil }
            state.isRetired = true
            state.uses += 1
            return number
        }
    }

    /// Ends a use; the last use of a retired descriptor closes it.
    func giveBack() {
        let isLast = state.withLock { state in
            state.uses -= 1
            return state.isRetired && state.uses == 0
        }
        // On Linux the number is free after close(2) whatever it returns, EINTR included: never again.
        if isLast { close(number) }
    }
}
