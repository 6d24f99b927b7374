internal import Glibc

extension DescriptorChannel {
    /// The time between attempts to connect to a Unix socket with a full backlog: no event reports when there is room.
    private static let retryInterval = Duration.milliseconds(20)

    /// Connects a stream socket, to the first address of a host that accepts. If the backlog of a Unix socket is full,
    /// retries until the deadline.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - loop: The loop of the channel.
    ///   - deadline: The time at which to give up; the look-up of a host name may take longer.
    /// - Throws: `system`, for example with ECONNREFUSED, ENOENT, ETIMEDOUT, or EAGAIN if the backlog stays full;
    ///   `unknownHost`; or `cancelled`.
    public static func connect(
        to address: SocketAddress, on loop: EventLoop = .shared, deadline: ContinuousClock.Instant
    ) async throws(DescriptorError) -> DescriptorChannel {
        var lastError = DescriptorError(errno: EHOSTUNREACH, call: "connect")
        for candidate in try await address.resolve(toListen: false) {
            do throws(DescriptorError) {
                let descriptor = try await connect(to: candidate, on: loop, deadline: deadline)
                return DescriptorChannel(taking: descriptor, kind: .socket, on: loop)
            } catch {
                if error.code == .cancelled { throw error }
                lastError = error
            }
        }
        throw lastError
    }

    /// Connects to one address.
    ///
    /// - Throws: `system` with ETIMEDOUT at the deadline, or with EAGAIN if the backlog of a Unix socket is still full.
    private static func connect(
        to address: RawSocketAddress, on loop: EventLoop, deadline: ContinuousClock.Instant
    ) async throws(DescriptorError) -> CInt {
        let descriptor = try makeSocket(family: address.family)
        do throws(DescriptorError) {
            var result = address.withAddress { Glibc.connect(descriptor, $0, $1) }
            while result != 0, errno == EAGAIN, address.family == AF_UNIX {
                guard .now + retryInterval < deadline else { throw DescriptorError(errno: EAGAIN, call: "connect") }
                guard (try? await EventLoopClock(loop).sleep(for: retryInterval)) != nil else {
                    throw DescriptorError(.cancelled, call: "connect")
                }
                result = address.withAddress { Glibc.connect(descriptor, $0, $1) }
            }
            if result != 0 {
                guard errno == EINPROGRESS || errno == EINTR else { throw .last("connect") }
                let events = try await loop.waitUntilReady(descriptor, events: CShort(POLLOUT), deadline: deadline)
                if events == 0 { throw DescriptorError(.system, errno: ETIMEDOUT, call: "connect") }
                var error: CInt = 0
                var length = socklen_t(MemoryLayout<CInt>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
                if error != 0 { throw DescriptorError(.system, errno: error, call: "connect") }
            }
            if address.family != AF_UNIX { preferLatency(descriptor) }
            return descriptor
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    static func makeSocket(family: CInt) throws(DescriptorError) -> CInt {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw .last("socket") }
        return descriptor
    }

    /// Sends small writes at once, since each command waits for its reply, and enables keep-alive, so that a dead far
    /// end is noticed.
    static func preferLatency(_ descriptor: CInt) {
        var on: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Creates two connected channels in this process: bytes written to one are read from the other.
    public static func pair(on loop: EventLoop = .shared) throws(DescriptorError) -> (
        DescriptorChannel, DescriptorChannel
    ) {
        var descriptors: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &descriptors) == 0 else { throw .last("socketpair") }
        return (
            DescriptorChannel(taking: descriptors[0], kind: .socket, on: loop),
            DescriptorChannel(taking: descriptors[1], kind: .socket, on: loop)
        )
    }
}
