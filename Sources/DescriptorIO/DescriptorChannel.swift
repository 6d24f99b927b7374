internal import Glibc

/// An open descriptor as two streams of bytes, such as a serial port, a socket or a pseudo-terminal.
///
/// The channel owns the descriptor and closes it as soon as the far end is gone: while a dead USB tty is held open, the
/// device comes back under another name (tokio-serial#56, Klipper#299). A read of 0 bytes after a hang-up means the
/// end. Treating it as "nothing yet" would make a loop that burns a core (espmonitor#12).
///
/// Unless ``forward(to:)`` was called, the channel reads only while a reader waits, so that a slow reader holds back
/// the sender through the kernel's buffers.
public actor DescriptorChannel {
    /// The kind of descriptor, which determines the call for writing and the meaning of a read of 0 bytes.
    public enum Kind: Sendable, Hashable {
        /// A terminal, a pseudo-terminal or a pipe.
        case stream
        /// A socket. MSG_NOSIGNAL makes writing to a lost far end an error instead of a SIGPIPE.
        case socket
    }

    /// The maximum number of bytes that one ``read()`` returns. The kernel's buffer of a terminal holds 4096.
    public static let readLength = 4096

    /// The loop that the channel runs on.
    public nonisolated var loop: EventLoop { core.loop }
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let core: ChannelCore

    /// Creates a channel that owns `descriptor`, which must be open and non-blocking.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - kind: The kind of the descriptor.
    ///   - loop: The loop that the channel runs on.
    ///   - hangUpPatience: The longest time that the channel waits, after a failed write, for the kernel to hang up the
    ///     descriptor, mostly a moment later. After this time the descriptor is closed anyway.
    ///   - keepsWriting: Whether a socket stays open for writing after the far end has shut down its direction: `echo
    ///     STATUS | socat - TCP:bench:4000` does so and waits for the reply.
    ///   - closeDescriptor: Closes the descriptor, called once; nil for close(2).
    public init(
        taking descriptor: CInt, kind: Kind, on loop: EventLoop = .shared, hangUpPatience: Duration = .seconds(5),
        keepsWriting: Bool = false, closeDescriptor: (@Sendable (CInt) -> Void)? = nil
    ) {
        core = ChannelCore(
            taking: descriptor, kind: kind, on: loop, hangUpPatience: hangUpPatience,
            keepsWriting: keepsWriting, closeDescriptor: closeDescriptor ?? { _ = Glibc.close($0) })
    }

    // MARK: Reading

    /// Waits for the next bytes, at most ``readLength``; nil if ``close()`` was called.
    ///
    /// - Throws: `disconnected` at the end of input, after all received bytes were returned; `cancelled` if the task is
    ///   cancelled; or `system`.
    /// - Precondition: No other read is waiting.
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

    /// Returns bytes that have arrived, at most ``readLength``, without waiting; empty if there are none, or if the
    /// channel was closed.
    ///
    /// - Throws: `disconnected` at the end of input, after all received bytes were returned; or `system`.
    public func readAvailable() throws(DescriptorError) -> [UInt8] { try core.readAvailable() }

    /// Passes all further results of ``read()`` to `receiver`, on the loop's thread, as fast as they arrive. The last
    /// result is an error, or nil after ``close()``.
    ///
    /// - Precondition: No read is waiting. A later read would get no bytes.
    public func forward(to receiver: @escaping @Sendable (Result<[UInt8]?, DescriptorError>) -> Void) {
        precondition(!core.hasReader, "a channel has one reader at a time")
        core.forward(to: receiver)
    }

    // MARK: Writing

    /// Writes all of `bytes`, in the order of the calls, and returns once the kernel has accepted them.
    ///
    /// - Throws: `disconnected`, `closed`, `cancelled` or `system`; some of the bytes may have been written.
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

    /// Writes `bytes` without waiting, or writes nothing if other writes are queued. Bytes that the kernel does not
    /// accept at once are queued.
    ///
    /// - Returns: false if other writes are queued. In this case nothing was written, and ``write(_:)`` can wait for
    ///   its turn.
    /// - Throws: `disconnected`, `closed` or `system`.
    /// - Precondition: The caller runs on the thread of ``loop``.
    public nonisolated func writeAtOnce(_ bytes: [UInt8]) throws(DescriptorError) -> Bool {
        loop.checkIsolated()
        if core.isBusy { return false }
        _ = try core.beginWrite(bytes)
        return true
    }

    /// Cancels all queued writes, whose callers receive `cancelled`. Some of the bytes may have been written.
    ///
    /// - Precondition: The caller runs on the thread of ``loop``.
    public nonisolated func cancelWriting() {
        loop.checkIsolated()
        core.cancelWriters()
    }

    // MARK: Closing

    /// Closes the descriptor. A waiting read returns nil, and waiting writes throw `closed`. Closing twice is allowed.
    public func close() { core.close() }

    /// Whether the descriptor is still open.
    public var isOpen: Bool { if case .open = core.state { true } else { false } }

    /// Whether the far end of a socket has closed the socket or shut down its direction, or this end is closed. Bytes
    /// that the far end sent before may still be unread.
    public var hasFarEndLeft: Bool {
        // POLLRDHUP, which Swift's Glibc module lacks.
        let farEndLeft: CShort = 0x2000
        let ready = try? core.withDescriptor { descriptor in
            var entry = pollfd(fd: descriptor, events: farEndLeft, revents: 0)
            return poll(&entry, 1, 0)
        }
        return ready != 0
    }

    /// Calls `body` with the descriptor, for operations such as modem lines or a drain.
    ///
    /// - Throws: `closed`, or the error that ended the channel, if the descriptor is no longer open.
    public func withDescriptor<Value>(_ body: (CInt) -> Value) throws(DescriptorError) -> Value {
        try core.withDescriptor(body)
    }
}
