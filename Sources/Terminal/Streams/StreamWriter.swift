internal import DescriptorIO
internal import Glibc

/// A writer to a standard stream that waits only for a limited time, unless its buffer is full.
///
/// A terminal stopped by Ctrl-S, a hanging connection, or a reader that stops reading must not keep this program from
/// its devices and from signals. Text that is not accepted within half a second is buffered, up to 1 MiB, and written
/// in order by a separate thread. Until that thread has caught up, ``write(_:)`` returns at once if the buffer has
/// room. exit(3) waits until the buffers are empty, unless ``abandon()`` was called: see ``areStalled``.
///
/// ```swift
/// StreamWriter.output.write("pump on\n")
/// ```
public final class StreamWriter: @unchecked Sendable {
    // @unchecked: `mutex` guards all mutable state.

    /// The writer of standard output.
    public static let output = StreamWriter(StandardStream.output.rawValue)
    /// The writer of standard error.
    public static let error = StreamWriter(StandardStream.error.rawValue)

    /// The longest time that a write waits for buffered text to be written.
    static let patience = Duration.milliseconds(500)
    /// The maximum number of buffered bytes. An empty buffer takes a text of any length.
    static let limit = 1 << 20

    private let descriptor: CInt
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Signalled after each change of `kept`, `failure` and `isAbandoned`.
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let patience: Duration
    private let limit: Int

    /// The buffered texts, oldest first. The thread removes the first one when it is written.
    private var kept: [[UInt8]] = []
    /// The number of bytes in `kept`.
    private var keptCount = 0
    /// The errno with which writing buffered text failed. After that, nothing more is written.
    private var failure: Int32?
    /// Whether the buffer was not emptied within `patience`. Until it is empty, a write waits only for room.
    private var isStalled = false
    /// Whether ``neverWait()`` was called.
    private var isBounded = false
    private var hasThread = false
    /// Whether ``abandon()`` was called.
    private var isAbandoned = false

    /// The kind of the descriptor, which determines how much can be written without waiting.
    private enum Kind {
        /// A file, or a device such as /dev/null: accepts everything.
        case file
        /// Accepts as much as fits into the kernel's buffer.
        case pipe, socket
        /// May block at any write.
        case terminal
    }

    /// The kind of the descriptor, determined at each use, since it may change: a program that goes to the background
    /// replaces its streams by /dev/null.
    private var kind: Kind {
        var node = stat()
        switch fstat(descriptor, &node) == 0 ? node.st_mode & S_IFMT : 0 {
        case S_IFIFO: return .pipe
        case S_IFSOCK: return .socket
        case S_IFCHR: return isatty(descriptor) == 1 ? .terminal : .file
        default: return .file
        }
    }

    /// Creates a writer to a descriptor, which must stay open.
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

    /// Writes the whole text, or buffers the part that is not accepted in time.
    ///
    /// - Parameter text: The text to write.
    /// - Returns: nil if the text was written or buffered. Otherwise the errno of a failed write, of this text or of
    ///   buffered text; or EAGAIN if the buffer is full and ``neverWait()`` was called. The rest of the text is then
    ///   lost.
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

    /// Replaces the text in the cursor's line of a terminal.
    public func redrawLine(_ text: String) { write("\r\u{1B}[K" + text) }

    /// Makes a write fail at once if the buffer is full; for programs that control a device. By default such a write
    /// waits, so that a program with much output is slowed down to its reader.
    public func neverWait() { withLock { isBounded = true } }

    /// Waits until the pipe or socket has no reader any more, or the terminal is closed.
    ///
    /// - Returns: true when the reader has gone; false at once if the descriptor is a file or another device, or if
    ///   waiting fails.
    func losesReader(on loop: EventLoop) async -> Bool {
        // A terminal that is closed already has become a device whose settings can't be read.
        guard kind != .file else { return isatty(descriptor) == 0 && errno == EIO }
        // POLLERR and POLLHUP are always reported, whatever events are requested.
        let events = try? await loop.waitUntilReady(descriptor, events: CShort(POLLPRI))
        return events.map { $0 & CShort(POLLERR | POLLHUP) != 0 } ?? false
    }

    /// Writes as many bytes as are accepted without waiting.
    ///
    /// - Returns: The number of bytes; -1 with errno on failure; nil if nothing is accepted now.
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
            // A pipe that is writable accepts at least PIPE_BUF bytes.
            count = Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Int(PIPE_BUF)))
        }
        guard count < 0 else { return count }
        return errno == EAGAIN ? nil : errno == EINTR ? 0 : -1
    }

    /// Appends bytes to the buffer, and waits up to `patience` until the buffer is empty.
    ///
    /// - Returns: The errno of a failed write; EAGAIN if the buffer is full and must not be waited for; otherwise nil.
    private func keep(_ bytes: [UInt8]) -> Int32? {
        // Without a thread, write directly: blocking is better than losing output.
        guard hasThread || startThread() else {
            return bytes.withUnsafeBytes { StandardStream.write($0, to: descriptor) }
        }
        while failure == nil, !kept.isEmpty, keptCount + bytes.count > limit {
            if isBounded { return EAGAIN }
            pthread_cond_wait(change, mutex)
        }
        // Nothing may follow text that was lost.
        if let failure { return failure }
        kept.append(bytes)
        keptCount += bytes.count
        pthread_cond_broadcast(change)
        if !isStalled { isStalled = !waitUntilWritten(for: patience) }
        return failure
    }

    /// Waits until the buffer is empty.
    ///
    /// - Returns: true if all text was written, or writing has failed, within the time.
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

    // MARK: Buffered text

    /// Whether standard output or standard error still has buffered text.
    public static var areStalled: Bool { output.isBehind || error.isBehind }

    /// Lets the program end without waiting for buffered text.
    public static func abandon() {
        for writer in [output, error] {
            writer.withLock {
                writer.isAbandoned = true
                pthread_cond_broadcast(writer.change)
            }
        }
    }

    /// Whether there is buffered text that can still be written.
    var isBehind: Bool { withLock { failure == nil && !kept.isEmpty } }

    /// Waits until the buffer is empty, writing has failed, or ``abandon()`` was called.
    private func finish() {
        withLock { while failure == nil, !kept.isEmpty, !isAbandoned { pthread_cond_wait(change, mutex) } }
    }

    // MARK: The thread

    /// Starts the thread that writes buffered text.
    ///
    /// - Returns: false if the system has no thread left.
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

    /// Runs on the thread until the process ends: waits for buffered text and writes it.
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
