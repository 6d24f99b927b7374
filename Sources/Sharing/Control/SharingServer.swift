internal import ControlProtocol
public import DescriptorIO
internal import Glibc

/// Offers devices to programs by their names, at a Unix socket: a program in any language sends requests, one JSON object on a
/// line, and is told responses and events.
///
/// ```swift
/// let server = SharingServer([device], at: "/run/user/1000/pumpctld/socket")
/// try await server.open()
/// ```
///
/// The page `docs/daemon.md` describes the interface, and `packaging/schema/pumpctld.schema.json` defines it.
public actor SharingServer {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// How many programs may be connected at once where nothing else is said.
    public static let standardLimit = 64

    private nonisolated let loop: EventLoop
    private let devices: [SharedDevice]
    private let path: String
    private let group: UInt32?
    private let limit: Int
    private let clock: any Clock<Duration>
    private let tell: @Sendable (SharingReport.Event) -> Void
    private var listener: SocketListener?
    private var accepting: Task<Void, Never>?
    private var connections: [ObjectIdentifier: ControlConnection] = [:]

    /// A server that does not listen yet.
    ///
    /// - Parameters:
    ///   - devices: What is offered. All of them run on `loop`.
    ///   - path: Where the socket is.
    ///   - group: The number of a group whose members may connect too; nil for this user alone.
    ///   - limit: How many programs may be connected at once. A few more may make devices safe and ask, for 10 s; the
    ///     others are told so and hung up on.
    ///   - clock: Measures all times; the loop's unless a test has another.
    ///   - tell: Told who comes and goes; must not block.
    public init(
        _ devices: [SharedDevice], at path: String, group: UInt32? = nil, limit: Int = standardLimit,
        on loop: EventLoop = .shared, clock: (any Clock<Duration>)? = nil,
        tell: @escaping @Sendable (SharingReport.Event) -> Void = { _ in }
    ) {
        precondition(devices.allSatisfy { $0.loop === loop }, "a server and its devices share a loop")
        self.devices = devices
        self.path = path
        self.group = group
        self.limit = limit
        self.loop = loop
        self.clock = clock ?? EventLoopClock(loop)
        self.tell = tell
    }

    /// Begins to listen. A socket that nobody listens at any more is replaced.
    ///
    /// - Throws: `system` with EADDRINUSE where another program listens there, EPERM where the group is none of this user's.
    public func open() async throws(DescriptorError) {
        let address = SocketAddress.unix(path: path)
        await SocketListener.removeStale(address, on: loop)
        let listener = try await SocketListener.listen(
            at: address, mode: 0o600, keepsWriting: true, keepsSpare: true, on: loop)
        do throws(DescriptorError) { try letGroupIn() } catch {
            await listener.close()
            throw error
        }
        self.listener = listener
        accepting = Task(executorPreference: loop) { await self.acceptAll(listener) }
    }

    /// Stops listening and hangs up on every program. The devices stay as they are.
    public func close() async {
        accepting?.cancel()
        await listener?.close()
        for connection in connections.values { await connection.close() }
        connections = [:]
    }

    /// The group first: until then the socket is for this user alone.
    private func letGroupIn() throws(DescriptorError) {
        guard let group else { return }
        guard chown(path, uid_t.max, group) == 0 else { throw .last("chown") }
        guard chmod(path, 0o660) == 0 else { throw .last("chmod") }
    }

    private func acceptAll(_ listener: SocketListener) async {
        while true {
            do throws(DescriptorError) {
                guard let channel = try await listener.accept() else { return }
                await take(channel)
            } catch {
                // Out of descriptors, most likely: programs that leave give theirs back.
                guard (try? await clock.sleep(for: .milliseconds(100))) != nil else { return }
            }
        }
    }

    private func take(_ channel: DescriptorChannel) async {
        let name = await channel.farEndName
        guard connections.count < limit + SharedDevice.extraPlaces else {
            let reason = "there are \(limit) clients already"
            tell(.turnedAway(name, reason))
            _ = try? channel.writeAtOnce(ControlMessage.refusal(of: .null, .full))
            return await channel.close()
        }
        let usesSpare = await listener?.hasUsedSpare == true
        let isExtra = usesSpare || connections.count >= limit
        let connection = ControlConnection(
            channel, name, devices, isExtra: isExtra, on: loop, clock: clock, report: tell)
        let key = ObjectIdentifier(connection)
        connections[key] = connection
        await connection.open {
            Task(executorPreference: self.loop) { await self.forget(key) }
        }
    }

    private func forget(_ key: ObjectIdentifier) { connections[key] = nil }
}
