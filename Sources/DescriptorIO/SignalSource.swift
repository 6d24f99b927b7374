internal import CDescriptorIO
internal import Glibc
internal import Synchronization

/// Calls a handler for signals, on a thread of its own, so that signals are handled even while all other threads wait,
/// as in a write(2) that blocks.
///
/// Create the source before other threads, which inherit the blocked signals.
public final class SignalSource: Sendable {
    private let signals: [CInt]
    private let isClosed = Atomic<Bool>(false)
    /// Whether ``close(isEnding:)`` waits for the thread to end.
    private let isJoined = Atomic<Bool>(false)
    let thread = Mutex<BackgroundThread?>(nil)

    /// Blocks `signals` until ``close(isEnding:)``, and calls `handler` for each one that arrives. A signal that the
    /// process ignores, perhaps by its parent's choice, stays ignored.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - handler: Called on the source's thread.
    /// - Throws: ``DescriptorError`` if the system has no thread left. The signals are then unblocked again.
    public static func open(
        _ signals: [CInt], handler: @escaping @Sendable (CInt) -> Void
    ) throws(DescriptorError) -> SignalSource {
        let source = SignalSource(signals)
        source.block(SIG_BLOCK)
        do throws(DescriptorError) {
            let thread = try BackgroundThread { source.wait(handler) }
            source.thread.withLock { $0 = thread }
        } catch {
            source.block(SIG_UNBLOCK)
            throw error
        }
        return source
    }

    private init(_ signals: [CInt]) { self.signals = signals }

    private var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }

    private func block(_ how: CInt) {
        var set = set
        pthread_sigmask(how, &set, nil)
    }

    /// Runs on the source's thread: waits for signals and passes them to `handler`, until the source is closed.
    private func wait(_ handler: (CInt) -> Void) {
        var (set, signal) = (set, CInt(0))
        while true {
            guard sigwait(&set, &signal) == 0 else { continue }
            if isClosed.load(ordering: .acquiring) { return giveBack(signal) }
            // sigwait(3) returns blocked signals even if they are ignored.
            if !Self.isIgnored(signal) { handler(signal) }
        }
    }

    /// Handles a signal that the source's thread received after ``close(isEnding:)``: sends it to this process again,
    /// so that it has the effect that it had before the source was opened. Does nothing if ``close(isEnding:)`` waits
    /// for the thread: that function itself sends a signal, to wake the thread. A signal of another sender that arrives
    /// in the same moment is lost.
    private func giveBack(_ signal: CInt) {
        guard !isJoined.load(ordering: .acquiring) else { return }
        block(SIG_UNBLOCK)
        kill(getpid(), signal)
    }

    /// Ends the source's thread, and unblocks the signals on the calling thread. Must not be called by the handler.
    ///
    /// - Parameter isEnding: Whether the program ends soon. If true, the source's thread is left running, which saves
    ///   eight system calls.
    public func close(isEnding: Bool = false) {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let thread else { return }
        isJoined.store(!isEnding, ordering: .releasing)
        isClosed.store(true, ordering: .releasing)
        if isEnding {
            thread.detach()
        } else {
            thread.send(signal: signals[0])
            thread.join()
        }
        block(SIG_UNBLOCK)
    }
}
