public import DescriptorIO

/// Offers a simulated device on a socket, as a raw serial server does.
///
/// A line has one client, like a serial port: other clients are disconnected at once, until that client has left. A
/// line that broadcasts has any number of clients, each of which receives all output of the device.
public actor SocketServer<Device: SimulatedDevice> {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The TCP port; nil for a Unix socket.
    public nonisolated var port: UInt16? { listener.port }

    private let loop: EventLoop
    private let listener: SocketListener
    private let host: DeviceHost<Device>
    private let broadcasts: Bool
    private let onRefusal: (@Sendable () -> Void)?
    private var connections: [DescriptorChannel] = []
    /// A client that came after the last client had left, but before this server noticed that.
    private var successor: DescriptorChannel?
    private var isClosed = false
    /// Whether a fault has pulled the cable.
    private var isUnplugged = false
    private var accepting: Task<Void, Never>?

    /// Listens at `address`, and connects clients to `host`.
    ///
    /// - Parameters:
    ///   - host: The host of the device.
    ///   - address: The address at which to listen.
    ///   - broadcasts: Whether any number of clients share the line.
    ///   - loop: The event loop of the connections, on which the host runs too.
    ///   - onRefusal: Called each time a client was disconnected because the line already has a client, on the loop's
    ///     thread.
    public static func open(
        _ host: DeviceHost<Device>, at address: SocketAddress, broadcasts: Bool = false, on loop: EventLoop = .shared,
        onRefusal: (@Sendable () -> Void)? = nil
    ) async throws(DescriptorError) -> SocketServer {
        let listener = try await SocketListener.listen(at: address, on: loop)
        let server = SocketServer(host, listener, broadcasts: broadcasts, on: loop, onRefusal)
        await host.onCarrierEvent { [weak server] event in server?.assumeIsolated { $0.take(event) } }
        await host.onCatchUp { await loop.untilIdle() }
        await server.start()
        return server
    }

    private init(
        _ host: DeviceHost<Device>, _ listener: SocketListener, broadcasts: Bool, on loop: EventLoop,
        _ onRefusal: (@Sendable () -> Void)?
    ) {
        self.host = host
        self.listener = listener
        self.broadcasts = broadcasts
        self.loop = loop
        self.onRefusal = onRefusal
    }

    private func start() {
        accepting = Task(executorPreference: loop) { await self.acceptAll() }
    }

    private func acceptAll() async {
        while !isClosed {
            do throws(DescriptorError) {
                guard let connection = try await listener.accept() else { return }
                guard !isClosed else { return await connection.close() }
                await take(connection)
            } catch {
                // Most likely there are no descriptors left. Clients that disconnect will free some.
                try? await EventLoopClock(loop).sleep(for: .milliseconds(100))
            }
        }
    }

    /// Disconnects all clients when the device is unplugged, and refuses new clients until the device is back.
    private func take(_ event: CarrierEvent) {
        switch event.action {
        case .unplug:
            isUnplugged = true
            let users = connections + [successor].compactMap(\.self)
            (connections, successor) = ([], nil)
            for user in users {
                // The channel is closed only later, and the device may send again before.
                host.assumeIsolated { $0.cutOff(user) }
                Task(executorPreference: loop) { await user.close() }
            }
        case .plugIn: isUnplugged = false
        case .hangUp, .notifyEarly: break
        }
    }

    /// Connects a new client to the device. Disconnects the client instead if the cable is pulled, or if the line has
    /// another client that has not left.
    private func take(_ connection: DescriptorChannel) async {
        if isUnplugged { return await connection.close() }
        guard !broadcasts, let client = connections.first else { return await join(connection) }
        // The end of a client that has left may be read only after the next client has come.
        if successor == nil, await client.hasFarEndLeft {
            if isUnplugged || connections.isEmpty { return await join(connection) }
            successor = connection
        } else {
            await connection.close()
            onRefusal?()
        }
    }

    private func join(_ connection: DescriptorChannel) async {
        // The cable may have been pulled while the caller awaited the first client's state.
        if isUnplugged { return await connection.close() }
        connections.append(connection)
        await host.attach(connection) { Task(executorPreference: self.loop) { await self.forget(connection) } }
    }

    /// Forgets a client that has left, and connects its successor.
    private func forget(_ connection: DescriptorChannel) async {
        connections.removeAll { $0 === connection }
        guard let next = successor else { return }
        successor = nil
        await join(next)
    }

    /// Stops listening and disconnects every client.
    public func close() async {
        isClosed = true
        await listener.close()
        await successor?.close()
        successor = nil
        for connection in connections { await connection.close() }
        connections = []
    }
}
