internal import ControlProtocol
public import DescriptorIO
public import DeviceKit
internal import Glibc
internal import StrictJSON

/// A server on a Unix socket by which programs in any language use devices by their names. Programs send requests and
/// receive responses and events, each one JSON object on a line.
///
/// ```swift
/// let server = SharingServer([device], at: "/run/user/1000/pumpctl/pumpctld")
/// try await server.open()
/// ```
///
/// The page `docs/daemon.md` describes the interface, and `packaging/schema/pumpctld.schema.json` defines it.
public actor SharingServer {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The default limit of concurrent connections.
    public static let standardLimit = 64

    private nonisolated let loop: EventLoop
    private let devices: [SharedDevice]
    private let history: HistoryReading
    private let surroundings: Surroundings
    /// The path of the socket.
    public nonisolated let path: String
    private let group: UInt32?
    private let limit: Int
    private let clock: any Clock<Duration>
    private let tell: @Sendable (SharingReport.Event) -> Void
    private var listener: SocketListener?
    private var accepting: Task<Void, Never>?
    private var connections: [ObjectIdentifier: ControlConnection] = [:]

    /// Creates a server, which does not listen yet.
    ///
    /// - Parameters:
    ///   - devices: The offered devices. All of them run on `loop`.
    ///   - path: The path of the socket.
    ///   - group: The ID of a group whose members may connect as well; nil for this user only.
    ///   - limit: The maximum number of concurrent connections. A few more programs may send stop requests and queries
    ///     for 10 s; any others get a failure and are disconnected.
    ///   - loop: The event loop of the server.
    ///   - clock: The clock of all time-outs; by default the loop's.
    ///   - recorder: The program that keeps the record; nil for the installed one.
    ///   - surroundings: The ports, BLE devices and problems of this computer.
    ///   - tell: Receives reports about connections; must not block.
    public init(
        _ devices: [SharedDevice], at path: String, group: UInt32? = nil, limit: Int = standardLimit,
        on loop: EventLoop = .shared, clock: (any Clock<Duration>)? = nil, recorder: CompanionProgram? = nil,
        surroundings: Surroundings = Surroundings(),
        tell: @escaping @Sendable (SharingReport.Event) -> Void = { _ in }
    ) {
        precondition(devices.allSatisfy { $0.loop === loop }, "a server and its devices share a loop")
        self.devices = devices
        history = HistoryReading(by: recorder)
        self.surroundings = surroundings
        self.path = path
        self.group = group
        self.limit = limit
        self.loop = loop
        self.clock = clock ?? EventLoopClock(loop)
        self.tell = tell
    }

    /// Starts to listen. Replaces a stale socket, on which no process listens any more.
    ///
    /// - Throws: `system`, for example with EADDRINUSE if another program listens on the path, or EPERM if this user is
    ///   not a member of the group.
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

    /// Stops listening and closes every connection. The devices keep running.
    public func close() async {
        accepting?.cancel()
        await listener?.close()
        for connection in connections.values { await connection.close() }
        connections = [:]
    }

    /// Lets the members of the group connect. The group changes before the mode, so that no other group can connect in
    /// between.
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
                // Most likely this process has too many open descriptors. Clients that disconnect will free some.
                guard (try? await clock.sleep(for: .milliseconds(100))) != nil else { return }
            }
        }
    }

    private func take(_ channel: DescriptorChannel) async {
        let name = await channel.farEndName
        guard connections.count < limit + SharedDevice.extraPlaces else {
            let reason = "there are \(connections.count) clients already"
            tell(.turnedAway(name, reason))
            _ = try? channel.writeAtOnce(ControlMessage.refusal(of: .null, .full))
            return await channel.close()
        }
        // If no further descriptor is free, admit the program only for stop requests and queries, as above the limit.
        let usesSpare = await listener?.hasUsedSpare == true
        let isExtra = usesSpare || connections.count >= limit
        let connection = ControlConnection(
            channel, name, devices, history, surroundings, isExtra: isExtra, on: loop, clock: clock, report: tell)
        let key = ObjectIdentifier(connection)
        connections[key] = connection
        await connection.open {
            Task(executorPreference: self.loop) { await self.forget(key) }
        }
    }

    private func forget(_ key: ObjectIdentifier) { connections[key] = nil }
}
