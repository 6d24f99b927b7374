internal import DescriptorIO
internal import Glibc
internal import Synchronization

/// The far end of a link on a descriptor, such as a socket or the master of a pseudo-terminal.
///
///     let far = DescriptorFarEnd(taking: descriptor)
///     try await far.send(Array("MANUAL:ON\r\n".utf8))
///
/// The far end shares no code with the link: it makes plain system calls on threads of its own.
public final class DescriptorFarEnd: FarEnd {
    /// The reason why the far end could not send or receive.
    public enum Failure: Error, CustomStringConvertible {
        /// A system call failed with this `errno`.
        case system(errno: Int32)
        /// Nothing arrived, or there was no room to write, for a minute.
        case nothingCame
        /// The link closed its end, or ``vanish()`` closed this end.
        case ended

        /// The failure in words.
        public var description: String {
            switch self {
            case .system(let number): "the far end failed: \(String(cString: strerror(number)))"
            case .nothingCame: "the far end waited for a minute"
            case .ended: "the far end saw the link's end"
            }
        }
    }

    private let descriptor: CInt
    private let hangUp: @Sendable () -> Void
    private let isGone = Mutex(false)

    /// Creates a far end on an open descriptor, and puts the descriptor into non-blocking mode.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which is used until ``vanish()``.
    ///   - hangUp: Closes the descriptor; called once. nil for close(2).
    public init(taking descriptor: Int32, hangUp: (@Sendable () -> Void)? = nil) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        self.hangUp = hangUp ?? { _ = close(descriptor) }
    }

    deinit { vanish() }

    public func vanish() {
        let wasGone = isGone.withLock { gone in
            defer { gone = true }
            return gone
        }
        if !wasGone { hangUp() }
    }

    public func send(_ bytes: [UInt8]) async throws {
        try await onThread { [self] stop in
            var position = 0
            while position < bytes.count {
                position += try sendNow(bytes[position...])
                if position < bytes.count { try wait(CShort(POLLOUT), stop) }
            }
        }
    }

    public func sendUntilRefused(_ bytes: [UInt8]) async throws -> Int {
        try await onThread { [self] _ in
            var position = 0
            while position < bytes.count {
                let count = try sendNow(bytes[position...])
                if count == 0 { break }
                position += count
            }
            return position
        }
    }

    public func receive(upTo count: Int) async throws -> [UInt8] {
        try await onThread { [self] stop in
            while true {
                try wait(CShort(POLLIN), stop)
                let bytes = try receiveNow(upTo: count)
                if !bytes.isEmpty { return bytes }
            }
        }
    }

    public func waitForBytes() async throws {
        try await onThread { [self] stop in try wait(CShort(POLLIN), stop) }
    }

    /// Writes once; returns the number of accepted bytes, 0 if there is no room.
    private func sendNow(_ bytes: ArraySlice<UInt8>) throws -> Int {
        while true {
            try checkOpen()
            let count = bytes.withUnsafeBytes { bytes in
                // send(2) raises no SIGPIPE, but takes sockets only. Writing to a terminal raises none.
                let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
                if count >= 0 || errno != ENOTSOCK { return count }
                return write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw Self.failure(errno) }
        }
    }

    /// Reads once; returns no bytes if none are there.
    private func receiveNow(upTo limit: Int) throws -> [UInt8] {
        try checkOpen()
        let limit = min(limit, 1 << 16)
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, length in
            count = read(descriptor, buffer.baseAddress, limit)
            length = max(0, count)
        }
        if count == 0 { throw Failure.ended }
        guard count > 0 || errno == EAGAIN || errno == EINTR else { throw Self.failure(errno) }
        return bytes
    }

    /// Waits until the descriptor is ready, or `stop` has input.
    private func wait(_ events: CShort, _ stop: CInt) throws {
        try checkOpen()
        var entries = [
            pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: stop, events: CShort(POLLIN), revents: 0),
        ]
        var count: CInt
        repeat { count = poll(&entries, 2, 60_000) } while count < 0 && errno == EINTR
        if entries[1].revents != 0 { throw CancellationError() }
        guard count > 0 else { throw Failure.nothingCame }
    }

    private func checkOpen() throws {
        if isGone.withLock({ $0 }) { throw Failure.ended }
    }

    /// Terminals report a closed other end as EIO, sockets in two other ways.
    private static func failure(_ number: CInt) -> Failure {
        [EIO, EPIPE, ECONNRESET].contains(number) ? .ended : .system(errno: number)
    }
}

/// Runs a blocking function on a thread of its own, since Swift's shared threads must not block. The descriptor that
/// the function gets has input as soon as the task is cancelled.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable (CInt) throws -> Value) async throws -> Value {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw DescriptorFarEnd.Failure.system(errno: errno) }
    defer { for end in ends { close(end) } }
    let (stop, stopping) = (ends[0], ends[1])
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try BackgroundThread { continuation.resume(with: Result { try body(stop) }) }.detach()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    } onCancel: {
        _ = write(stopping, "!", 1)
    }
}
