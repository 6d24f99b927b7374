import TestSupport
import DescriptorIO
import Glibc
import Synchronization

/// A client of a simulated device that uses plain system calls.
final class HostClient: Sendable {
    /// Nothing arrived for a minute, or the device hung up before the expected input.
    struct NothingCame: Error {}
    /// The client could not open its terminal or socket, or could not write to it.
    struct NotOpened: Error { var errno: CInt }

    private let descriptor: CInt
    private let isGone = Mutex(false)

    /// Opens a terminal without changing its settings.
    init(terminal path: String) throws {
        descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw NotOpened(errno: errno) }
    }

    /// Connects to a socket.
    init(_ address: SocketAddress) async throws {
        let channel = try await DescriptorChannel.connect(to: address, deadline: .now + .seconds(60))
        descriptor = try await channel.withDescriptor { fcntl($0, F_DUPFD_CLOEXEC, 0) }
        await channel.close()
    }

    /// Takes ownership of one end of a socket.
    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Connects to a Unix socket without waiting until the server accepts.
    init(atOnce path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw NotOpened(errno: errno) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { leave() }

    /// Closes the client's end. A second call does nothing.
    func leave() {
        let wasGone = isGone.withLock { gone in
            defer { gone = true }
            return gone
        }
        guard !wasGone else { return }
        // shutdown(2), because a child that is just being forked may hold a copy of the descriptor for a moment.
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    func say(_ text: String) throws {
        let length = text.utf8.count
        // With MSG_NOSIGNAL a device that has hung up causes an error, not a SIGPIPE that would end all tests.
        var count = send(descriptor, text, length, CInt(MSG_NOSIGNAL))
        if count < 0, errno == ENOTSOCK { count = write(descriptor, text, length) }
        guard count == length else { throw NotOpened(errno: errno) }
    }

    /// Discards the input that was not read yet.
    func flushInput() { tcflush(descriptor, TCIFLUSH) }

    /// Returns the input received so far.
    func heard() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// Reads until the input ends with `end`, and returns it. Waits for at most a minute for each byte.
    func hear(until end: String) async throws -> String {
        let end = Array(end.utf8)
        return try await onThread { [descriptor] in
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while !bytes.suffix(end.count).elementsEqual(end) {
                try Self.wait(descriptor)
                guard read(descriptor, &byte, 1) == 1 else { throw NothingCame() }
                bytes.append(byte)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Waits until the device has hung up. Waits for at most a minute for each input.
    ///
    /// - Returns: The input received before the device hung up.
    @discardableResult
    func waitForHangUp() async throws -> String {
        try await onThread { [descriptor] in
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                try Self.wait(descriptor)
                let count = read(descriptor, &buffer, buffer.count)
                if count == 0 || count < 0 && errno != EAGAIN { return String(decoding: bytes, as: UTF8.self) }
                bytes += buffer[..<max(0, count)]
            }
        }
    }

    private static func wait(_ descriptor: CInt) throws {
        var entry = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
        guard poll(&entry, 1, 60_000) > 0 else { throw NothingCame() }
    }
}
