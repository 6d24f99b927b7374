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

    /// What a channel hands to its receiver.
    public enum Arrival: Sendable {
        /// The next bytes, at most ``readLength``.
        case bytes([UInt8])
        /// Nothing more will come: the far end is gone, or, without an error, ``close()`` was called.
        case ended(DescriptorError?)
    }

    /// The most bytes that one ``read()`` returns. A terminal's kernel buffer holds 4096.
    public static let readLength = 4096

    /// The loop that all of the channel runs on.
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private enum State {
        case open
        /// The far end is gone; what it had sent before is still handed out.
        case lost(DescriptorError)
        case closed
    }

    private struct Reader {
        let id: UInt64
        let continuation: UnsafeContinuation<Result<[UInt8]?, DescriptorError>, Never>
    }

    private struct Writer {
        let id: UInt64
        let bytes: [UInt8]
        var written: Int
        let continuation: UnsafeContinuation<Result<Void, DescriptorError>, Never>
    }

    private let descriptor: CInt
    private let kind: Kind
    private let closeDescriptor: @Sendable (CInt) -> Void
    private var state = State.open
    private var token: PollToken?
    private var interest: CShort = 0
    private var reader: Reader?
    private var receiver: (@Sendable (Arrival) -> Void)?
    private var writers: [Writer] = []
    private var leftover: [[UInt8]] = []
    private var lastID: UInt64 = 0

    /// Takes over `descriptor`, which must be open and non-blocking.
    ///
    /// - Parameter closeDescriptor: What closing is, where it takes more than `close(2)`; called once.
    public init(
        taking descriptor: CInt, kind: Kind, on loop: EventLoop = .shared,
        closeDescriptor: (@Sendable (CInt) -> Void)? = nil
    ) {
        self.descriptor = descriptor
        self.kind = kind
        self.loop = loop
        self.closeDescriptor = closeDescriptor ?? { _ = Glibc.close($0) }
    }

    deinit {
        guard case .open = state else { return }
        guard let token else { return closeDescriptor(descriptor) }
        // First off the loop: it would go on polling a number that is nobody's, or somebody else's.
        loop.execute { [unowned loop, descriptor, closeDescriptor] in
            loop.unwatch(token)
            closeDescriptor(descriptor)
        }
    }

    // MARK: Reading

    /// The next bytes to arrive, at most ``readLength``; nil once ``close()`` was called.
    ///
    /// - Throws: `disconnected` when the far end is gone and all that it sent was read; `cancelled` when the task is.
    /// - Precondition: One reader at a time.
    public func read() async throws(DescriptorError) -> [UInt8]? {
        precondition(reader == nil, "a channel has one reader at a time")
        if !leftover.isEmpty { return leftover.removeFirst() }
        switch state {
        case .closed: return nil
        case .lost(let error): throw error
        case .open: break
        }
        lastID += 1
        let id = lastID
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<[UInt8]?, DescriptorError>, Never>) in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(DescriptorError(.cancelled, call: "read")))
                } else {
                    reader = Reader(id: id, continuation: continuation)
                    updateInterest()
                }
            }
        } onCancel: {
            loop.execute { self.assumeIsolated { $0.cancelReader(id) } }
        }.get()
    }

    /// What has arrived by now, without waiting; empty if nothing has.
    ///
    /// - Throws: `disconnected` when the far end is gone and all that it sent was read.
    public func readAvailable() throws(DescriptorError) -> [UInt8] {
        if !leftover.isEmpty { return leftover.removeFirst() }
        switch state {
        case .closed: return []
        case .lost(let error): throw error
        case .open: break
        }
        switch readOnce() {
        case .bytes(let bytes): return bytes
        case .nothing: return []
        case .end(let error):
            lose(error)
            throw error
        }
    }

    /// From now on hands what arrives to `receiver`, on the loop's thread, as fast as it comes; the end once and last.
    ///
    /// - Precondition: Nobody reads.
    public func forward(to receiver: @escaping @Sendable (Arrival) -> Void) {
        precondition(reader == nil, "a channel has one reader at a time")
        while !leftover.isEmpty { receiver(.bytes(leftover.removeFirst())) }
        switch state {
        case .closed: receiver(.ended(nil))
        case .lost(let error): receiver(.ended(error))
        case .open:
            self.receiver = receiver
            updateInterest()
        }
    }

    private func cancelReader(_ id: UInt64) {
        guard reader?.id == id else { return }
        resumeReader(.failure(DescriptorError(.cancelled, call: "read")))
        updateInterest()
    }

    private func resumeReader(_ result: Result<[UInt8]?, DescriptorError>) {
        guard let waiting = reader else { return }
        reader = nil
        waiting.continuation.resume(returning: result)
    }

    private var wantsBytes: Bool { reader != nil || receiver != nil }

    private func handOver(_ bytes: [UInt8]) {
        if let receiver { receiver(.bytes(bytes)) } else { resumeReader(.success(bytes)) }
    }

    /// Tells whoever waits for bytes that there will be none.
    private func handOverEnd(_ error: DescriptorError?) {
        if let receiver {
            self.receiver = nil
            receiver(.ended(error))
        }
        resumeReader(error.map { .failure($0) } ?? .success(nil))
    }

    private enum ReadResult {
        case bytes([UInt8])
        case nothing
        case end(DescriptorError)
    }

    private func readOnce() -> ReadResult {
        // Into a buffer that lasts, then out of it: most reads are a line, and a line is a small allocation.
        let buffer = loop.scratch
        var count: Int
        repeat { count = Glibc.read(descriptor, buffer.baseAddress, Self.readLength) } while count < 0 && errno == EINTR
        if count > 0 { return .bytes(Array(buffer[..<count])) }
        if count == 0 { return isHungUp ? .end(DescriptorError(.disconnected, call: "read")) : .nothing }
        if errno == EAGAIN { return .nothing }
        return .end(.last("read"))
    }

    /// Whether a read of 0 bytes was the end. Another program that shares a terminal may have set VMIN to 0 (pyserial
    /// does), and 0 is then "nothing yet": poll tells the two apart.
    private var isHungUp: Bool {
        if kind == .socket { return true }
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & CShort(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    // MARK: Writing

    /// Writes all of `bytes`, in the order of the calls, and returns once the kernel has taken them.
    ///
    /// - Throws: `disconnected`, `closed`, or `cancelled`; part of the bytes may have gone out by then.
    public func write(_ bytes: [UInt8]) async throws(DescriptorError) {
        switch state {
        case .closed: throw DescriptorError(.closed, call: "write")
        case .lost(let error): throw error
        case .open: break
        }
        var written = 0
        if writers.isEmpty {
            do throws(DescriptorError) {
                written = try writeSome(bytes, from: 0)
            } catch {
                // The reader still gets what came before the end.
                lose(error)
                throw error
            }
            if written == bytes.count { return }
        }
        lastID += 1
        let id = lastID
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Void, DescriptorError>, Never>) in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(DescriptorError(.cancelled, call: "write")))
                } else {
                    writers.append(Writer(id: id, bytes: bytes, written: written, continuation: continuation))
                    updateInterest()
                }
            }
        } onCancel: {
            loop.execute { self.assumeIsolated { $0.cancelWriter(id) } }
        }.get()
    }

    private func cancelWriter(_ id: UInt64) {
        guard let index = writers.firstIndex(where: { $0.id == id }) else { return }
        let writer = writers.remove(at: index)
        writer.continuation.resume(returning: .failure(DescriptorError(.cancelled, call: "write")))
        updateInterest()
    }

    /// Writes from `start` on until all is written or the kernel takes no more; returns how far it came.
    private func writeSome(_ bytes: [UInt8], from start: Int) throws(DescriptorError) -> Int {
        var position = start
        while position < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[position...])
                return switch kind {
                case .stream: Glibc.write(descriptor, rest.baseAddress, rest.count)
                case .socket: send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
                }
            }
            if count >= 0 {
                position += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                throw .last("write")
            }
        }
        return position
    }

    // MARK: Closing

    /// Closes the descriptor, ends a waiting read with nil and waiting writes with `closed`. Closing twice is allowed.
    public func close() {
        let wasOpen = if case .open = state { true } else { false }
        state = .closed
        leftover = []
        if wasOpen { releaseDescriptor() }
        handOverEnd(nil)
        failWriters(DescriptorError(.closed, call: "write"))
    }

    /// Whether the descriptor is still open.
    public var isOpen: Bool { if case .open = state { true } else { false } }

    /// Calls `body` with the descriptor while it is open, for what only its owner knows to ask: modem lines, a drain.
    public func withDescriptor<Value>(_ body: (CInt) -> Value) throws(DescriptorError) -> Value {
        switch state {
        case .open: return body(descriptor)
        case .closed: throw DescriptorError(.closed, call: "ioctl")
        case .lost(let error): throw error
        }
    }

    private func lose(_ error: DescriptorError) {
        guard case .open = state else { return }
        // A receiver may close the channel at any of them: the number is somebody else's then.
        while case .open = state, case .bytes(let bytes) = readOnce() {
            if wantsBytes { handOver(bytes) } else { leftover.append(bytes) }
        }
        guard case .open = state else { return }  // the receiver closed the channel
        state = .lost(error)
        releaseDescriptor()
        handOverEnd(error)
        failWriters(error)
    }

    private func releaseDescriptor() {
        if let token { loop.unwatch(token) }
        token = nil
        closeDescriptor(descriptor)
    }

    private func failWriters(_ error: DescriptorError) {
        let waiting = writers
        writers = []
        for writer in waiting { writer.continuation.resume(returning: .failure(error)) }
    }

    // MARK: Waiting

    private func updateInterest() {
        guard case .open = state else { return }
        let events = CShort((wantsBytes ? POLLIN : 0) | (writers.isEmpty ? 0 : POLLOUT))
        if let token {
            if events != interest { loop.setInterest(token, events: events) }
        } else {
            // From now on a hang-up is noticed even while nobody reads.
            token = loop.watch(descriptor, events: events, handler: Handler(channel: self))
        }
        interest = events
    }

    /// Holds the channel weakly: one that everybody has forgotten must still be closed.
    private final class Handler: PollHandler {
        private weak let channel: DescriptorChannel?
        init(channel: DescriptorChannel) { self.channel = channel }
        func ready(_ events: CShort) { channel?.assumeIsolated { $0.ready(events) } }
    }

    private func ready(_ events: CShort) {
        guard case .open = state else { return }
        if wantsBytes, events & CShort(POLLIN | POLLHUP | POLLERR) != 0 {
            switch readOnce() {
            case .bytes(let bytes): handOver(bytes)
            case .nothing: if events & CShort(POLLHUP | POLLERR) != 0 { lose(Self.hangUp) }
            case .end(let error): lose(error)
            }
        } else if events & CShort(POLLHUP | POLLERR | POLLNVAL) != 0 {
            // Nobody reads, and poll would report this again at once and for ever.
            lose(Self.hangUp)
        }
        if case .open = state, events & CShort(POLLOUT) != 0 { writeWaiting() }
        updateInterest()
    }

    private static let hangUp = DescriptorError(.disconnected, call: "poll")

    private func writeWaiting() {
        while let writer = writers.first {
            do throws(DescriptorError) {
                let written = try writeSome(writer.bytes, from: writer.written)
                writers[0].written = written
                guard written == writer.bytes.count else { return }
                writers.removeFirst()
                writer.continuation.resume(returning: .success(()))
            } catch {
                return lose(error)
            }
        }
    }
}
