internal import Glibc

/// An open descriptor as two streams of bytes: what a port, a socket and a pseudo-terminal have in common.
///
/// The channel owns the descriptor and closes it at once when the far end is gone: while a dead USB tty is held open,
/// the device comes back under another name (tokio-serial#56, Klipper#299). A read of 0 bytes after a hang-up is that
/// end, never "nothing yet": to take it so is to spin (espmonitor#12).
///
/// It reads only while somebody waits for bytes, so that a slow reader holds the sender back through the kernel's
/// buffers and nothing is gathered without bound.
public actor DescriptorChannel {
    /// What the descriptor is, as far as reading and writing differ.
    public enum Kind: Sendable, Hashable {
        /// A terminal, a pseudo-terminal or a pipe.
        case stream
        /// A socket: written with MSG_NOSIGNAL, so that a lost peer is an error and not a SIGPIPE.
        case socket
    }

    /// The most bytes that one ``read()`` returns. A terminal's kernel buffer holds 4096.
    public static let readLength = 4096

    /// The loop that all of the channel runs on.
    public nonisolated var loop: EventLoop { core.loop }
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let core: ChannelCore

    /// Takes over `descriptor`, which must be open and non-blocking.
    ///
    /// - Parameters:
    ///   - hangUpPatience: How long a descriptor that refuses what is written may take to be hung up by the kernel, before
    ///     it is closed all the same.
    ///   - keepsWriting: Whether a socket whose far end has ended its own direction is kept, for what is yet to be written: as
    ///     `echo STATUS | socat - TCP:bench:4000` waits for the answer.
    ///   - closeDescriptor: What closing is, where it takes more than `close(2)`; called once.
    public init(
        taking descriptor: CInt, kind: Kind, on loop: EventLoop = .shared, hangUpPatience: Duration = .seconds(5),
        keepsWriting: Bool = false, closeDescriptor: (@Sendable (CInt) -> Void)? = nil
    ) {
        core = ChannelCore(
            taking: descriptor, kind: kind, on: loop, hangUpPatience: hangUpPatience,
            keepsWriting: keepsWriting, closeDescriptor: closeDescriptor ?? { _ = Glibc.close($0) })
    }

    // MARK: Reading

    /// The next bytes to arrive, at most ``readLength``; nil once ``close()`` was called.
    ///
    /// - Throws: `disconnected` when the far end is gone and all that it sent was read; `cancelled` when the task is.
    /// - Precondition: One reader at a time.
    public func read() async throws(DescriptorError) -> [UInt8]? {
        precondition(!core.hasReader, "a channel has one reader at a time")
        if let result = core.resultAtOnce() { return try result.get() }
        let id = core.newID()
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: ChannelCore.ReadContinuation) in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(DescriptorError(.cancelled, call: "read")))
                } else {
                    core.waitForBytes(id, continuation)
                }
            }
        } onCancel: {
            loop.execute { self.core.cancelReader(id) }
        }.get()
    }

    /// What has arrived by now, without waiting; empty if nothing has.
    ///
    /// - Throws: `disconnected` when the far end is gone and all that it sent was read.
    public func readAvailable() throws(DescriptorError) -> [UInt8] { try core.readAvailable() }

    /// From now on hands what ``read()`` would return or throw to `receiver`, on the loop's thread, as fast as it comes; the
    /// end once and last.
    ///
    /// - Precondition: Nobody reads.
    public func forward(to receiver: @escaping @Sendable (Result<[UInt8]?, DescriptorError>) -> Void) {
        precondition(!core.hasReader, "a channel has one reader at a time")
        core.forward(to: receiver)
    }

    // MARK: Writing

    /// Writes all of `bytes`, in the order of the calls, and returns once the kernel has taken them.
    ///
    /// - Throws: `disconnected`, `closed`, or `cancelled`; part of the bytes may have gone out by then.
    public func write(_ bytes: [UInt8]) async throws(DescriptorError) {
        guard let rest = try core.beginWrite(bytes) else { return }
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: ChannelCore.WriteContinuation) in
                rest.wait(continuation)
                if Task.isCancelled { core.cancel(rest) }
            }
        } onCancel: {
            loop.execute { self.core.cancel(rest) }
        }.get()
    }

    /// Writes `bytes` without waiting, unless others wait to write. What the kernel does not take at once follows as
    /// soon as it does.
    ///
    /// - Returns: Whether it did: ``write(_:)`` waits for its turn.
    /// - Throws: `disconnected` or `closed`.
    /// - Precondition: The caller runs on the thread of ``loop``.
    public nonisolated func writeAtOnce(_ bytes: [UInt8]) throws(DescriptorError) -> Bool {
        loop.checkIsolated()
        if core.isBusy { return false }
        _ = try core.beginWrite(bytes)
        return true
    }

    /// Forgets what the kernel has not taken yet: who waits to write finds it cancelled. Part of it may have gone out.
    ///
    /// - Precondition: The caller runs on the thread of ``loop``.
    public nonisolated func cancelWriting() {
        loop.checkIsolated()
        core.cancelWriters()
    }

    // MARK: Closing

    /// Closes the descriptor, ends a waiting read with nil and waiting writes with `closed`. Closing twice is allowed.
    public func close() { core.close() }

    /// Whether the descriptor is still open.
    public var isOpen: Bool { if case .open = core.state { true } else { false } }

    /// Whether the far end of a socket has closed it or ended its own direction. True also once this
    /// end is closed. Bytes sent before may still be unread.
    public var hasFarEndLeft: Bool {
        // POLLRDHUP, which glibc hides from Swift.
        let farEndLeft: CShort = 0x2000
        let ready = try? core.withDescriptor { descriptor in
            var entry = pollfd(fd: descriptor, events: farEndLeft, revents: 0)
            return poll(&entry, 1, 0)
        }
        return ready != 0
    }

    /// Calls `body` with the descriptor while it is open, for what only its owner knows to ask: modem lines, a drain.
    public func withDescriptor<Value>(_ body: (CInt) -> Value) throws(DescriptorError) -> Value {
        try core.withDescriptor(body)
    }
}
