internal import Glibc

/// What a channel does without waiting: it reads and writes, and keeps who waits.
///
/// A class beside the actor, so that what arrives comes straight here from the loop.
final class ChannelCore: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its loop only: by its channel, whose executor the loop is, by what the
    // loop executes, and by the handler that the loop calls.

    enum State {
        case open
        /// The far end is gone; what it had sent before is still handed out.
        case lost(DescriptorError)
        case closed
    }

    /// Bytes, or the end: nil once the channel was closed.
    typealias Arrival = Result<[UInt8]?, DescriptorError>
    typealias ReadContinuation = UnsafeContinuation<Arrival, Never>
    typealias WriteContinuation = UnsafeContinuation<Result<Void, DescriptorError>, Never>

    /// Bytes that the kernel has not taken yet, in their place in the queue.
    ///
    /// Whoever waits for them joins later: between a first write and the wait, others may come to write.
    final class PendingWrite: @unchecked Sendable {
        // @unchecked: as its core, touched on the loop's thread only.

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
    private var token: PollToken?
    private var interest: CShort = 0
    private var reader: (id: UInt64, continuation: ReadContinuation)?
    private var receiver: (@Sendable (Arrival) -> Void)?
    private var writers: [PendingWrite] = []
    private var leftover: [[UInt8]] = []
    /// Why nothing can be written any more, while the hang-up that follows is waited for.
    private var writeFailure: (error: DescriptorError, timer: TimerQueue.Token)?
    private let hangUpPatience: Duration
    /// Whether it can be written to when the far end has ended its own direction.
    private let keepsWriting: Bool
    /// Whether the far end has, and all that it sent was read.
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
        // First off the loop: it would go on polling a number that is nobody's, or somebody else's.
        loop.execute { [unowned loop, descriptor, closeDescriptor] in
            loop.unwatch(token)
            closeDescriptor(descriptor)
        }
    }

    /// Names one that is going to wait.
    func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Reading

    var hasReader: Bool { reader != nil }

    /// What needs no wait: bytes that were read before the far end was lost, or the end. nil while it is open.
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

    /// Tells whoever waits for bytes that there will be none.
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

    private func readOnce() -> ReadResult {
        // Into a buffer that lasts, then out of it: most reads are a line, and a line is a small allocation.
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

    /// Nothing more will come.
    private func end(_ error: DescriptorError) {
        guard keepsWriting, error == Self.endOfInput, !reportsEnd else { return lose(error, isReadToEnd: true) }
        hasInputEnded = true
        updateInterest()
        handOverEnd(.failure(error))
    }

    /// Whether a read of 0 bytes was the end. Another program that shares a terminal may have set VMIN to 0 (pyserial
    /// does), and 0 is then "nothing yet": poll tells the two apart.
    private var isHungUp: Bool { kind == .socket || reportsEnd }

    /// Whether poll has come to know that the far end is gone.
    private var reportsEnd: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & CShort(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    // MARK: Writing

    /// Whether others wait to write.
    var isBusy: Bool { !writers.isEmpty }

    /// Writes what the kernel takes and keeps the rest, in its turn; returns that rest, nil if there is none.
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

    /// Forgets what was to be written and was not yet.
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

    /// Writes from `start` on until all is written or the kernel takes no more; returns how far it came.
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

    /// Ends writing, and the channel with it once the kernel has hung the descriptor up.
    ///
    /// A USB tty refuses what is written as soon as its device is gone, and is hung up a moment later. Closed in between,
    /// it waits up to 30 s for bytes that cannot be sent any more, and the whole hub waits with it.
    ///
    /// The reader still gets what came before the end, but not from here: who writes is in the middle of something.
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

    /// The most bytes that are read of a far end that is lost: more than a kernel keeps.
    private static let lastBytes = 1 << 24

    /// - Parameter isReadToEnd: Whether a read has found the end: what comes behind it on a pseudo-terminal is said by who has
    ///   opened it since.
    private func lose(_ error: DescriptorError, isReadToEnd: Bool = false) {
        guard case .open = state else { return }
        // A receiver may close the channel at any of them: the number is somebody else's then. A far end that takes nothing
        // may still send for ever.
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

    private func updateInterest() {
        guard case .open = state else { return }
        let events = CShort((wantsBytes ? POLLIN : 0) | (writers.isEmpty ? 0 : POLLOUT))
        if let token {
            if events != interest { loop.setInterest(token, events: events) }
        } else {
            // From now on a hang-up is noticed even while nobody reads.
            token = loop.watch(descriptor, events: events, handler: Handler(core: self))
        }
        interest = events
    }

    /// Holds the channel's core weakly: a channel that everybody has forgotten must still be closed.
    private final class Handler: PollHandler {
        private weak let core: ChannelCore?
        init(core: ChannelCore) { self.core = core }
        func ready(_ events: CShort) { core?.ready(events) }
    }

    private func ready(_ events: CShort) {
        guard case .open = state else { return }
        if wantsBytes, events & CShort(POLLIN | POLLHUP | POLLERR) != 0 {
            switch readOnce() {
            case .bytes(let bytes): handOver(bytes)
            case .nothing: if events & CShort(POLLHUP | POLLERR) != 0 { lookForEnd() }
            case .end(let error): end(error)
            }
        } else if events & CShort(POLLHUP | POLLERR | POLLNVAL) != 0 {
            // Nobody reads, and poll would report this again at once and for ever.
            lose(Self.hangUp)
        }
        if events & CShort(POLLOUT) != 0, case .open = state { writeWaiting() }
        updateInterest()
    }

    /// Poll has reported a hang-up, and there was nothing to read. Somebody may have opened the pseudo-terminal since.
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
