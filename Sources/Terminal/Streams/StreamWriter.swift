internal import DescriptorIO
internal import Glibc

/// Writes to a standard stream, and waits only for so long until it is taken.
///
/// A terminal that was stopped by Ctrl-S, a connection that hangs, and a program that reads no more must not keep this program
/// from its devices and from signals. What is not taken within half a second is kept, up to 1 MiB, and written in its order by
/// a thread of its own; until that has caught up, ``write(_:)`` returns at once. At the end of the program, ``areStalled``
/// says whether something is left.
///
/// ```swift
/// StreamWriter.output.write("pump on\n")
/// ```
public final class StreamWriter: @unchecked Sendable {
    // @unchecked: `mutex` guards all that changes.

    /// The writer of standard output.
    public static let output = StreamWriter(StandardStream.output.rawValue)
    /// The writer of standard error.
    public static let error = StreamWriter(StandardStream.error.rawValue)

    /// How long a write waits until it is taken.
    static let patience = Duration.milliseconds(500)
    /// The most bytes that are kept.
    static let limit = 1 << 20

    private let descriptor: CInt
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let patience: Duration
    private let limit: Int

    private var kept: [[UInt8]] = []
    private var keptCount = 0
    private var failure: Int32?
    private var isStalled = false
    private var isBounded = false
    private var hasThread = false
    private var isAbandoned = false

    /// What can be written to it without waiting.
    private enum Kind {
        /// All: a file, or a device such as /dev/null.
        case file
        /// What fits.
        case pipe, socket
        /// Nothing is known.
        case terminal
    }

    /// It may change: a program in the background puts /dev/null in the place of its streams.
    private var kind: Kind {
        var node = stat()
        switch fstat(descriptor, &node) == 0 ? node.st_mode & S_IFMT : 0 {
        case S_IFIFO: return .pipe
        case S_IFSOCK: return .socket
        case S_IFCHR: return isatty(descriptor) == 1 ? .terminal : .file
        default: return .file
        }
    }

    /// A writer to a descriptor, which has to stay open.
    init(_ descriptor: CInt, patience: Duration = StreamWriter.patience, limit: Int = StreamWriter.limit) {
        self.descriptor = descriptor
        (self.patience, self.limit) = (patience, limit)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(change, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    // MARK: Writing

    /// Writes text whole, or keeps what is not taken in time.
    ///
    /// - Returns: The errno of a write that has failed, of this text or of what was kept before; EAGAIN where so much is kept
    ///   that it must not wait, see ``neverWait()``. Nil where all was written, or is kept.
    @discardableResult
    public func write(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            withLock {
                if let failure { return failure }
                var rest = UnsafeRawBufferPointer(bytes)
                if kept.isEmpty {
                    while !rest.isEmpty, let count = writeWhatFits(rest) {
                        if count < 0 { return errno }
                        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                    }
                }
                return rest.isEmpty ? nil : keep(Array(rest))
            }
        }
    }

    /// Writes to the line of a terminal that the cursor is on, in place of what stands there.
    public func redrawLine(_ text: String) { write("\r\u{1B}[K" + text) }

    /// From now on a write fails where the most is kept that may be. Until then it waits: what produces much is as fast as its
    /// reader. For programs that hold a device.
    public func neverWait() { withLock { isBounded = true } }

    /// Waits until nobody can read any more from the pipe or the socket that it writes to.
    ///
    /// - Returns: False at once if it writes to something else, or the system can't tell.
    func losesReader(on loop: EventLoop) async -> Bool {
        guard [.pipe, .socket].contains(kind) else { return false }
        // An end of the reader is reported of any descriptor that is watched.
        let events = try? await loop.waitUntilReady(descriptor, events: CShort(POLLPRI))
        return events.map { $0 & CShort(POLLERR | POLLHUP) != 0 } ?? false
    }

    /// Writes as much as is taken without waiting.
    ///
    /// - Returns: How many bytes; -1 where that failed, with errno; nil where nothing is taken now.
    private func writeWhatFits(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let count: Int
        switch kind {
        case .terminal: return nil
        case .file: count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        case .socket:
            count = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL))
        case .pipe:
            var writable = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
            guard poll(&writable, 1, 0) == 1 else { return nil }
            // A pipe that takes anything takes as much.
            count = Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Int(PIPE_BUF)))
        }
        guard count < 0 else { return count }
        return errno == EAGAIN ? nil : errno == EINTR ? 0 : -1
    }

    private func keep(_ bytes: [UInt8]) -> Int32? {
        // To wait is better than to say nothing.
        guard hasThread || startThread() else {
            return bytes.withUnsafeBytes { StandardStream.write($0, to: descriptor) }
        }
        while failure == nil, !kept.isEmpty, keptCount + bytes.count > limit {
            if isBounded { return EAGAIN }
            pthread_cond_wait(change, mutex)
        }
        kept.append(bytes)
        keptCount += bytes.count
        pthread_cond_broadcast(change)
        if !isStalled { isStalled = !waitUntilWritten(for: patience) }
        return failure
    }

    /// - Returns: Whether all was written, or writing has failed, within the time.
    private func waitUntilWritten(for time: Duration) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = time.components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        while failure == nil, !kept.isEmpty {
            if pthread_cond_timedwait(change, mutex, &end) == ETIMEDOUT { return failure != nil || kept.isEmpty }
        }
        return true
    }

    // MARK: What is kept

    /// Whether a standard stream has not taken all that was written to it.
    public static var areStalled: Bool { output.isBehind || error.isBehind }

    /// Leaves what is kept unwritten: the end of the program does not wait for it.
    public static func abandon() {
        for writer in [output, error] {
            writer.withLock {
                writer.isAbandoned = true
                pthread_cond_broadcast(writer.change)
            }
        }
    }

    /// Whether something is kept that can still be written.
    var isBehind: Bool { withLock { failure == nil && !kept.isEmpty } }

    /// Waits until all was written, if ever.
    private func finish() {
        withLock { while failure == nil, !kept.isEmpty, !isAbandoned { pthread_cond_wait(change, mutex) } }
    }

    // MARK: The thread

    /// - Returns: Whether the system had a thread left.
    private func startThread() -> Bool {
        guard let thread = try? BackgroundThread({ self.writeWhatIsKept() }) else { return false }
        thread.detach()
        hasThread = true
        if descriptor <= StandardStream.error.rawValue {
            atexit {
                StreamWriter.output.finish()
                StreamWriter.error.finish()
            }
        }
        return true
    }

    /// On the thread, to the end of the process.
    private func writeWhatIsKept() {
        pthread_mutex_lock(mutex)
        while true {
            while kept.isEmpty { pthread_cond_wait(change, mutex) }
            let bytes = kept[0]
            pthread_mutex_unlock(mutex)
            let errno = bytes.withUnsafeBytes { StandardStream.write($0, to: descriptor) }
            pthread_mutex_lock(mutex)
            keptCount -= kept.removeFirst().count
            failure = errno
            if errno != nil { (kept, keptCount) = ([], 0) }
            if kept.isEmpty { isStalled = false }
            pthread_cond_broadcast(change)
        }
    }

    private func withLock<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
