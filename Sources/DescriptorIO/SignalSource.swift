internal import CDescriptorIO
internal import Glibc
internal import Synchronization

/// Signals as calls of a handler, on a thread that waits for nothing else: it attends to them also while all other threads
/// are held up, as by a file that blocks.
///
/// Make it before other threads are started: they inherit that the signals are blocked.
public final class SignalSource: Sendable {
    private let signals: [CInt]
    private let isClosed = Atomic<Bool>(false)
    private let isJoined = Atomic<Bool>(false)
    let thread = Mutex<BackgroundThread?>(nil)

    /// Takes over `signals` until ``close()``, and hands each that comes to `handler` on a thread of its own. One that the
    /// process ignores, as whoever has started it may want, comes to nothing as ever.
    ///
    /// - Throws: If the system has no thread left. The signals do then what they did before.
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

    /// On the thread.
    private func wait(_ handler: (CInt) -> Void) {
        var (set, signal) = (set, CInt(0))
        while true {
            guard sigwait(&set, &signal) == 0 else { continue }
            if isClosed.load(ordering: .acquiring) { return giveBack(signal) }
            // A signal that is blocked comes also if it is ignored.
            if !Self.isIgnored(signal) { handler(signal) }
        }
    }

    /// On the thread, which may still be waiting when the source is closed.
    private func giveBack(_ signal: CInt) {
        guard !isJoined.load(ordering: .acquiring) else { return }
        block(SIG_UNBLOCK)
        kill(getpid(), signal)
    }

    /// Gives the signals back to what they did before. Not to be called by the handler.
    ///
    /// - Parameter isEnding: Whether the program ends soon. The thread is not ended then, which takes eight system calls.
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
