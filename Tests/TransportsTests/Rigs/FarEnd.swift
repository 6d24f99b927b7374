import TestSupport
import Glibc
import Synchronization

/// The far end of a link. It uses plain system calls, so that it shares no code with the link under test.
final class FarEnd: Sendable {
    /// A read or a write failed.
    struct Refused: Error { var errno: CInt }
    /// The link was not ready for reading or writing within ``patience``.
    struct NothingCame: Error {}
    /// The link closed its end.
    struct Ended: Error {}

    /// The time limit for expected input, or for room to write, in milliseconds.
    private static let patience: CInt = 60_000

    let descriptor: CInt
    private let hangUp: @Sendable () -> Void
    private let isGone = Mutex(false)

    /// - Parameter hangUp: Closes the descriptor; called once.
    init(_ descriptor: CInt, hangUp: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.hangUp = hangUp
    }

    deinit { vanish() }

    /// Closes this end without sending anything.
    func vanish() {
        let wasGone = isGone.withLock { gone in
            defer { gone = true }
            return gone
        }
        if !wasGone { hangUp() }
    }

    /// Sends all of `bytes`.
    func send(_ bytes: [UInt8]) async throws {
        try await onThread { [self] in
            var position = 0
            while position < bytes.count {
                position += try sendNow(bytes[position...])
                if position < bytes.count { try wait(CShort(POLLOUT)) }
            }
        }
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Receives `count` bytes.
    func receive(_ count: Int) async throws -> [UInt8] {
        try await onThread { [self] in
            var received: [UInt8] = []
            received.reserveCapacity(count)
            while received.count < count {
                try wait(CShort(POLLIN))
                received += try receiveNow(upTo: count - received.count)
            }
            return received
        }
    }

    /// Receives until the input ends with `end`.
    func receive(until end: [UInt8]) async throws -> [UInt8] {
        try await onThread { [self] in
            var received: [UInt8] = []
            while !received.suffix(end.count).elementsEqual(end) {
                try wait(CShort(POLLIN))
                received += try receiveNow(upTo: 1 << 16)
            }
            return received
        }
    }

    /// Waits for input without reading it.
    func waitForBytes() async throws {
        try await onThread { [self] in try wait(CShort(POLLIN)) }
    }

    /// Sends until nothing more is accepted or everything is sent; returns the number of accepted bytes.
    func sendUntilRefused(_ bytes: [UInt8]) async throws -> Int {
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

    /// Writes once; returns the number of accepted bytes, 0 if there is no room.
    private func sendNow(_ bytes: ArraySlice<UInt8>) throws -> Int {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw Refused(errno: errno) }
        return 0
    }

    private func receiveNow(upTo limit: Int) throws -> [UInt8] {
        let limit = min(limit, 1 << 16)
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, length in
            count = read(descriptor, buffer.baseAddress, limit)
            length = max(0, count)
        }
        if count == 0 { throw Ended() }
        guard count > 0 || errno == EAGAIN || errno == EINTR else { throw Refused(errno: errno) }
        return bytes
    }

    private func wait(_ events: CShort) throws {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        guard poll(&entry, 1, Self.patience) > 0 else { throw NothingCame() }
    }
}
