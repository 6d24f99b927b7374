internal import Glibc

/// A socket that accepts connections.
public actor SocketListener {
    /// The loop that waits for connections.
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The TCP port of the socket; nil for a Unix socket.
    public nonisolated let port: UInt16?

    private let descriptor: CInt
    private var isWaiting = false
    private var isClosed = false
    private let path: String?
    private let keepsWriting: Bool
    private let keepsSpare: Bool
    /// A spare descriptor, which is closed to accept one more connection if no descriptors are left: the owner can then
    /// tell the client why it is turned away.
    private var spare: SpareDescriptor?
    /// Whether the last attempt to accept a connection used the spare descriptor, because no others were left.
    package private(set) var hasUsedSpare = false
    /// The identity of the Unix socket's node: the node is removed only if no other program has replaced it.
    private let node: (device: dev_t, number: ino_t)

    /// The number of connections that may wait to be accepted, limited by the kernel to /proc/sys/net/core/somaxconn.
    /// 4096 is the default of that limit. Further connections to a Unix socket fail with EAGAIN.
    private static let backlog: CInt = 4096

    /// Listens at `address`; if a host name has several addresses, at the first one only. The path of a Unix socket
    /// must be free; ``close()`` removes the socket unless another program has replaced it.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - mode: The permissions of a Unix socket, as the bits of chmod(2); nil for all that the umask allows.
    ///   - keepsWriting: Whether a connection stays open for writing after its far end has shut down its direction; see
    ///     ``DescriptorChannel/init(taking:kind:on:hangUpPatience:keepsWriting:closeDescriptor:)``.
    ///   - loop: The loop that waits for connections.
    /// - Throws: `system`, for example with EADDRINUSE or EACCES; or `unknownHost`.
    public static func listen(
        at address: SocketAddress, mode: UInt32? = nil, keepsWriting: Bool = false, on loop: EventLoop = .shared
    ) async throws(DescriptorError) -> SocketListener {
        try await listen(at: address, mode: mode, keepsWriting: keepsWriting, keepsSpare: false, on: loop)
    }

    /// Listens at `address`, like the public function.
    ///
    /// - Parameter keepsSpare: Whether to hold a spare descriptor, so that one more connection can be accepted if no
    ///   other descriptors are left.
    package static func listen(
        at address: SocketAddress, mode: UInt32? = nil, keepsWriting: Bool = false, keepsSpare: Bool,
        on loop: EventLoop = .shared
    ) async throws(DescriptorError) -> SocketListener {
        guard let candidate = try await address.resolve(toListen: true).first else {
            throw DescriptorError(errno: EHOSTUNREACH, call: "bind")
        }
        let descriptor = try DescriptorChannel.makeSocket(family: candidate.family)
        do throws(DescriptorError) {
            var on: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
            // Set the mode before the socket has a name, so that nobody can connect in between.
            if let mode, case .unix = address { fchmod(descriptor, mode) }
            guard candidate.withAddress({ bind(descriptor, $0, $1) }) == 0 else { throw .last("bind") }
            guard Glibc.listen(descriptor, backlog) == 0 else { throw .last("listen") }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        let path: String? = if case .unix(let path) = address { path } else { nil }
        return SocketListener(
            descriptor: descriptor, path: path, keepsWriting: keepsWriting, keepsSpare: keepsSpare, loop: loop)
    }

    private init(descriptor: CInt, path: String?, keepsWriting: Bool, keepsSpare: Bool, loop: EventLoop) {
        self.keepsWriting = keepsWriting
        self.keepsSpare = keepsSpare
        self.descriptor = descriptor
        self.path = path
        var status = stat()
        node = path.map { stat($0, &status) } == 0 ? (status.st_dev, status.st_ino) : (0, 0)
        self.loop = loop
        port = path == nil ? Self.boundPort(of: descriptor) : nil
    }

    deinit {
        // A task that waits for a connection keeps the listener alive, so none is waiting here.
        guard !isClosed else { return }
        removeNode()
        Glibc.close(descriptor)
    }

    private nonisolated func removeNode() {
        var status = stat()
        guard let path, stat(path, &status) == 0, (status.st_dev, status.st_ino) == node else { return }
        unlink(path)
    }

    private static func boundPort(of descriptor: CInt) -> UInt16? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // sin_port and sin6_port have the same offset.
        return result == 0 ? UInt16(bigEndian: address.sin6_port) : nil
    }

    /// Waits for the next connection; nil once the listener was closed. Only one task at a time may wait.
    ///
    /// - Throws: `cancelled` if the task is cancelled; `system`, for example with EMFILE if no descriptor is left.
    public func accept() async throws(DescriptorError) -> DescriptorChannel? {
        while !isClosed {
            let connection = acceptAtOnce()
            if connection >= 0 {
                _ = fcntl(connection, F_SETFL, O_NONBLOCK)
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                if path == nil { DescriptorChannel.preferLatency(connection) }
                return DescriptorChannel(taking: connection, kind: .socket, on: loop, keepsWriting: keepsWriting)
            }
            guard [EAGAIN, EINTR, ECONNABORTED].contains(errno) else { throw .last("accept") }
            isWaiting = true
            defer {
                isWaiting = false
                if isClosed { Glibc.close(descriptor) }
            }
            _ = try await loop.waitUntilReady(descriptor, events: CShort(POLLIN))
        }
        return nil
    }

    /// Accepts a pending connection; returns -1 and sets `errno` if there is none, or on failure.
    private func acceptAtOnce() -> CInt {
        if keepsSpare, spare == nil { spare = SpareDescriptor() }
        hasUsedSpare = false
        let connection = Glibc.accept(descriptor, nil, nil)
        guard connection < 0, errno == EMFILE || errno == ENFILE, spare != nil else { return connection }
        spare = nil
        hasUsedSpare = true
        return Glibc.accept(descriptor, nil, nil)
    }

    /// Stops listening, and removes the path of a Unix socket unless another program has replaced the socket. Accepted
    /// connections stay open. Closing twice is allowed.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        removeNode()
        spare = nil
        // This wakes a waiting `accept()`, which closes the descriptor after it has stopped watching it.
        Glibc.shutdown(descriptor, CInt(SHUT_RDWR))
        if !isWaiting { Glibc.close(descriptor) }
    }
}

/// A descriptor of /dev/null, to be closed when its number is needed.
private final class SpareDescriptor: Sendable {
    private let number: CInt

    init?() {
        number = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if number < 0 { return nil }
    }

    deinit { close(number) }
}
