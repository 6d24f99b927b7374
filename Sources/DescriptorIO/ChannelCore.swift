internal import Glibc

/// The synchronous part of a ``DescriptorChannel``: reads and writes, and stores the waiting reader and the queued
/// writes.
///
/// This class is separate from the actor so that the loop can call it directly, without a job, when bytes arrive.
final class ChannelCore: @unchecked Sendable {
    // @unchecked: used only on the thread of its loop: by its channel, whose executor is the loop, by calls that the
    // loop executes, and by the handler that the loop calls.

    enum State {
        case open
        /// The far end is gone, or reading or writing failed. Bytes in `leftover` can still be read.
        case lost(DescriptorError)
        case closed
    }

    /// Received bytes; nil if the channel was closed; or the error that ended the input.
    typealias Arrival = Result<[UInt8]?, DescriptorError>
    typealias ReadContinuation = UnsafeContinuation<Arrival, Never>
    typealias WriteContinuation = UnsafeContinuation<Result<Void, DescriptorError>, Never>

    /// A queued write: the kernel has not accepted all of its bytes yet.
    ///
    /// The result is stored, because a caller may start waiting only after the write has ended.
    final class PendingWrite: @unchecked Sendable {
        // @unchecked: like its core, used only on the loop's thread.

        fileprivate let bytes: [UInt8]
        fileprivate var written: Int
        private var result: Result<Void, DescriptorError>?
        private var continuation: WriteContinuation?

        fileprivate init(_ bytes: [UInt8], written: Int) {
            self.bytes = bytes
            self.written = written
        }

        func wait(_ continuation: WriteContinuation) {
            if let result { continuation.resume(returning: result) } else { self.continuation = continuation }
        }

        fileprivate func finish(_ result: Result<Void, DescriptorError>) {
            self.result = result
            continuation?.resume(returning: result)
            continuation = nil
        }
    }

    let loop: EventLoop
    private(set) var state = State.open
    private let descriptor: CInt
    private let kind: DescriptorChannel.Kind
    private let closeDescriptor: @Sendable (CInt) -> Void
    /// The loop's watch of the descriptor; nil before the first wait, and after the end.
    private var token: PollToken?
    private var interest: CShort = 0
    private var reader: (id: UInt64, continuation: ReadContinuation)?
    private var receiver: (@Sendable (Arrival) -> Void)?
    private var writers: [PendingWrite] = []
    /// The bytes that were in the kernel's buffer when the far end was lost, for later reads.
    private var leftover: [[UInt8]] = []
    /// The error of a failed write, and the timer that ends the wait for the kernel's hang-up; nil if no write has
    /// failed.
    private var writeFailure: (error: DescriptorError, timer: TimerQueue.Token)?
    private let hangUpPatience: Duration
    /// Whether writing continues after the far end has shut down its direction.
    private let keepsWriting: Bool
    /// Whether the far end has shut down its direction, and all its bytes were read.
    private var hasInputEnded = false
    private var lastID: UInt64 = 0

    init(
        taking descriptor: CInt, kind: DescriptorChannel.Kind, on loop: EventLoop, hangUpPatience: Duration,
        keepsWriting: Bool, closeDescriptor: @escaping @Sendable (CInt) -> Void
    ) {
        self.descriptor = descriptor
        self.kind = kind
        self.loop = loop
        self.hangUpPatience = hangUpPatience
        self.keepsWriting = keepsWriting
        self.closeDescriptor = closeDescriptor
    }

    deinit {
        guard case .open = state else { return }
        guard let token else { return closeDescriptor(descriptor) }
        // Stop watching first: after closing, the loop would poll a number that is invalid, or is another file's.
        loop.execute { [unowned loop, descriptor, closeDescriptor] in
            loop.unwatch(token)
            closeDescriptor(descriptor)
        }
    }

    /// Returns an ID for a read that is about to wait.
    func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Reading

    var hasReader: Bool { reader != nil }

    /// Returns the result of a read that need not wait: bytes that were read before the far end was lost, or the end;
    /// nil while more bytes may come.
    func resultAtOnce() -> Arrival? {
        if !leftover.isEmpty { return .success(leftover.removeFirst()) }
        switch state {
        case .closed: return .success(nil)
        case .lost(let error): return .failure(error)
        case .open: return hasInputEnded ? .failure(Self.endOfInput) : nil
        }
    }

    func readAvailable() throws(DescriptorError) -> [UInt8] {
        if let result = resultAtOnce() { return try result.get() ?? [] }
        switch readOnce() {
        case .bytes(let bytes): return bytes
        case .nothing: return []
        case .end(let error):
            end(error)
            throw error
        }
    }

    func waitForBytes(_ id: UInt64, _ continuation: ReadContinuation) {
        if let result = resultAtOnce() { return continuation.resume(returning: result) }
        reader = (id, continuation)
        updateInterest()
    }

    func cancelReader(_ id: UInt64) {
        guard reader?.id == id else { return }
        resumeReader(.failure(DescriptorError(.cancelled, call: "read")))
        updateInterest()
    }

    func forward(to receiver: @escaping @Sendable (Arrival) -> Void) {
        while !leftover.isEmpty { receiver(.success(leftover.removeFirst())) }
        if let end = resultAtOnce() { return receiver(end) }
        self.receiver = receiver
        updateInterest()
    }

    private var wantsBytes: Bool { !hasInputEnded && (reader != nil || receiver != nil) }

    private func resumeReader(_ result: Arrival) {
        guard let waiting = reader else { return }
        reader = nil
        waiting.continuation.resume(returning: result)
    }

    private func handOver(_ bytes: [UInt8]) {
        if let receiver { receiver(.success(bytes)) } else { resumeReader(.success(bytes)) }
    }

    /// Reports the end of input to the receiver or the waiting reader.
    private func handOverEnd(_ end: Arrival) {
        if let receiver {
            self.receiver = nil
            receiver(end)
        }
        resumeReader(end)
    }

    private enum ReadResult {
        case bytes([UInt8])
        case nothing
        case end(DescriptorError)
    }

    /// Reads once, without waiting.
    private func readOnce() -> ReadResult {
        // Read into a permanent buffer and copy: most reads are one line, so the copy is a small allocation.
        let buffer = loop.scratch
        var count: Int
        repeat {
            count = Glibc.read(descriptor, buffer.baseAddress, DescriptorChannel.readLength)
        } while count < 0 && errno == EINTR
        if count > 0 { return .bytes(Array(buffer[..<count])) }
        if count == 0 { return isHungUp ? .end(Self.endOfInput) : .nothing }
        if errno == EAGAIN { return .nothing }
        return .end(.last("read"))
    }

    private static let endOfInput = DescriptorError(.disconnected, call: "read")

    /// Handles the end of input, or a failed read. If a far end has only shut down its direction, a channel that keeps
    /// writing stays open.
    private func end(_ error: DescriptorError) {
        guard keepsWriting, error == Self.endOfInput, !reportsEnd else { return lose(error, isReadToEnd: true) }
        hasInputEnded = true
        updateInterest()
        handOverEnd(.failure(error))
    }

    /// Whether a read of 0 bytes means the end. On a shared terminal, another program such as pyserial may have set
    /// VMIN to 0, and 0 then means "nothing yet". poll(2) distinguishes the two cases.
    private var isHungUp: Bool { kind == .socket || reportsEnd }

    /// Whether poll(2) reports that the far end is gone.
    private var reportsEnd: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & CShort(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    // MARK: Writing

    /// Whether writes are queued.
    var isBusy: Bool { !writers.isEmpty }

    /// Writes as many bytes as the kernel accepts, or none while other writes are queued, and queues the rest. Returns
    /// the queued rest; nil if there is none.
    func beginWrite(_ bytes: [UInt8]) throws(DescriptorError) -> PendingWrite? {
        switch state {
        case .closed: throw DescriptorError(.closed, call: "write")
        case .lost(let error): throw error
        case .open: if let writeFailure { throw writeFailure.error }
        }
        var written = 0
        if !isBusy {
            do throws(DescriptorError) {
                written = try write(bytes, from: 0)
            } catch {
                failWriting(error)
                throw error
            }
            if written == bytes.count { return nil }
        }
        let rest = PendingWrite(bytes, written: written)
        writers.append(rest)
        updateInterest()
        return rest
    }

    /// Cancels all queued writes.
    func cancelWriters() {
        failWriters(DescriptorError(.cancelled, call: "write"))
        updateInterest()
    }

    func cancel(_ write: PendingWrite) {
        guard let index = writers.firstIndex(where: { $0 === write }) else { return }
        writers.remove(at: index)
        write.finish(.failure(DescriptorError(.cancelled, call: "write")))
        updateInterest()
    }

    /// Writes from index `start` until all is written or the kernel's buffer is full. Returns the index of the first
    /// byte not written.
    private func write(_ bytes: [UInt8], from start: Int) throws(DescriptorError) -> Int {
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

    /// Continues the queued writes, once the kernel has room again.
    private func writeWaiting() {
        while let writer = writers.first {
            do throws(DescriptorError) {
                let written = try write(writer.bytes, from: writer.written)
                writer.written = written
                guard written == writer.bytes.count else { return }
                writers.removeFirst()
                writer.finish(.success(()))
            } catch {
                return failWriting(error)
            }
        }
    }

    /// Ends writing. The descriptor is closed once the kernel has hung it up, at the latest after `hangUpPatience`.
    ///
    /// A USB tty refuses writes as soon as its device is gone, and is hung up a moment later. If the tty is closed in
    /// between, close(2) waits up to 30 s for bytes that can no longer be sent, and blocks the whole hub during that
    /// time.
    ///
    /// The reader still receives the bytes before the end, but from a later round of the loop, since the caller here is
    /// in the middle of a write.
    private func failWriting(_ error: DescriptorError) {
        let patience = kind == .stream && !reportsEnd ? hangUpPatience : .zero
        let timer = loop.schedule(at: .now + patience) { [weak self] in self?.lose(error) }
        writeFailure = (error, timer)
        failWriters(error)
        updateInterest()
    }

    // MARK: Closing

    func close() {
        let wasOpen = if case .open = state { true } else { false }
        state = .closed
        leftover = []
        if wasOpen { releaseDescriptor() }
        handOverEnd(.success(nil))
        failWriters(DescriptorError(.closed, call: "write"))
    }

    func withDescriptor<Value>(_ body: (CInt) -> Value) throws(DescriptorError) -> Value {
        switch state {
        case .open: return body(descriptor)
        case .closed: throw DescriptorError(.closed, call: "ioctl")
        case .lost(let error): throw error
        }
    }

    /// The maximum number of bytes to read after the far end is lost: more than the kernel buffers.
    private static let lastBytes = 1 << 24

    /// Handles the loss of the far end, or a failed read or write: keeps the unread bytes and closes the descriptor.
    ///
    /// - Parameter isReadToEnd: Whether a read has returned the end or failed. If so, nothing more is read: later bytes
    ///   on a pseudo-terminal come from a program that opened it afterwards.
    private func lose(_ error: DescriptorError, isReadToEnd: Bool = false) {
        guard case .open = state else { return }
        // Check the state before each read: the receiver may have closed the channel, and the descriptor's number may
        // belong to another file by now. The limit is for a far end that goes on sending.
        var count = 0
        while !isReadToEnd, count < Self.lastBytes, case .open = state, case .bytes(let bytes) = readOnce() {
            count += bytes.count
            if wantsBytes { handOver(bytes) } else { leftover.append(bytes) }
        }
        guard case .open = state else { return }  // the receiver closed the channel
        state = .lost(error)
        releaseDescriptor()
        handOverEnd(.failure(error))
        failWriters(error)
    }

    private func releaseDescriptor() {
        if let token { loop.unwatch(token) }
        token = nil
        if let writeFailure { loop.cancel(writeFailure.timer) }
        closeDescriptor(descriptor)
    }

    private func failWriters(_ error: DescriptorError) {
        let waiting = writers
        writers = []
        for writer in waiting { writer.finish(.failure(error)) }
    }

    // MARK: Waiting

    /// Adjusts the events that the loop waits for.
    private func updateInterest() {
        guard case .open = state else { return }
        let events = CShort((wantsBytes ? POLLIN : 0) | (writers.isEmpty ? 0 : POLLOUT))
        if let token {
            if events != interest { loop.setInterest(token, events: events) }
        } else {
            // The first wait starts the watch, which from then on reports a hang-up even without a reader.
            token = loop.watch(descriptor, events: events, handler: Handler(core: self))
        }
        interest = events
    }

    /// Holds the core weakly, so that a channel without references is deallocated and closes its descriptor.
    private final class Handler: PollHandler {
        private weak let core: ChannelCore?
        init(core: ChannelCore) { self.core = core }
        func ready(_ events: CShort) { core?.ready(events) }
    }

    /// Handles events of the descriptor: reads once, and continues the queued writes.
    private func ready(_ events: CShort) {
        guard case .open = state else { return }
        if wantsBytes, events & CShort(POLLIN | POLLHUP | POLLERR) != 0 {
            switch readOnce() {
            case .bytes(let bytes): handOver(bytes)
            case .nothing: if events & CShort(POLLHUP | POLLERR) != 0 { lookForEnd() }
            case .end(let error): end(error)
            }
        } else if events & CShort(POLLHUP | POLLERR | POLLNVAL) != 0 {
            // End the channel although nobody reads: the loop would report the hang-up again in each round.
            lose(Self.hangUp)
        }
        if events & CShort(POLLOUT) != 0, case .open = state { writeWaiting() }
        updateInterest()
    }

    /// Handles a hang-up without bytes to read. Since the report of the hang-up, a program may have opened the
    /// pseudo-terminal again.
    private func lookForEnd() {
        guard reportsEnd else { return }
        switch readOnce() {
        case .bytes(let bytes): handOver(bytes)
        case .nothing: if reportsEnd { lose(Self.hangUp) }
        case .end(let error): end(error)
        }
    }

    private static let hangUp = DescriptorError(.disconnected, call: "poll")
}
