internal import DescriptorIO
internal import Glibc
internal import Synchronization

/// The far end of a link on a descriptor, such as a socket or the leading end of a pseudo-terminal.
///
///     let far = DescriptorFarEnd(taking: descriptor)
///     try await far.send(Array("MANUAL:ON\r\n".utf8))
///
/// It uses plain system calls on threads of its own, so that it shares no code with the link.
public final class DescriptorFarEnd: FarEnd {
    /// The reason why the far end could not send or receive.
    public enum Failure: Error, CustomStringConvertible {
        /// A system call failed with this `errno`.
        case system(errno: Int32)
        /// Nothing arrived, or there was no room to write, for a minute.
        case nothingCame
        /// The link closed its end.
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

    /// Creates a far end on an open descriptor. It may be in non-blocking mode.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which is used until ``vanish()``.
    ///   - hangUp: Closes the descriptor; called once. nil for close(2).
    public init(taking descriptor: Int32, hangUp: (@Sendable () -> Void)? = nil) {
        self.descriptor = descriptor
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
        try await onThread { [self] in
            var position = 0
            while position < bytes.count {
                position += try sendNow(bytes[position...])
                if position < bytes.count { try wait(CShort(POLLOUT)) }
            }
        }
    }

    public func sendUntilRefused(_ bytes: [UInt8]) async throws -> Int {
        try await onThread { [self] in
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
        try await onThread { [self] in
            try wait(CShort(POLLIN))
            return try receiveNow(upTo: count)
        }
    }

    public func waitForBytes() async throws {
        try await onThread { [self] in try wait(CShort(POLLIN)) }
    }

    /// Writes once; returns the number of accepted bytes, 0 if there is no room.
    private func sendNow(_ bytes: ArraySlice<UInt8>) throws -> Int {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw Failure.system(errno: errno) }
        return 0
    }

    private func receiveNow(upTo limit: Int) throws -> [UInt8] {
        let limit = min(limit, 1 << 16)
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, length in
            count = read(descriptor, buffer.baseAddress, limit)
            length = max(0, count)
        }
        if count == 0 { throw Failure.ended }
        guard count > 0 || errno == EAGAIN || errno == EINTR else { throw Failure.system(errno: errno) }
        return bytes
    }

    private func wait(_ events: CShort) throws {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        guard poll(&entry, 1, 60_000) > 0 else { throw Failure.nothingCame }
    }
}

/// Runs a blocking function on its own thread, because the threads of a pool must not block.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try BackgroundThread { continuation.resume(with: Result(catching: body)) }.detach()
        } catch {
            continuation.resume(throwing: error)
        }
    }
}
