public import DescriptorIO

/// Offers a simulated device on a socket, as a raw serial server does; several clients share it.
public actor SocketServer<Device: SimulatedDevice> {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The TCP port; nil for a Unix socket.
    public nonisolated var port: UInt16? { listener.port }

    private let loop: EventLoop
    private let listener: SocketListener
    private let host: DeviceHost<Device>
    private var connections: [DescriptorChannel] = []
    private var isClosed = false
    private var accepting: Task<Void, Never>?

    /// Listens at `address` and joins each client to `host`.
    public static func open(
        _ host: DeviceHost<Device>, at address: SocketAddress, on loop: EventLoop = .shared
    ) async throws(DescriptorError) -> SocketServer {
        let server = SocketServer(host, try await SocketListener.listen(at: address, on: loop), on: loop)
        await server.start()
        return server
    }

    private init(_ host: DeviceHost<Device>, _ listener: SocketListener, on loop: EventLoop) {
        self.host = host
        self.listener = listener
        self.loop = loop
    }

    private func start() {
        accepting = Task(executorPreference: loop) { await self.acceptAll() }
    }

    private func acceptAll() async {
        while !isClosed {
            do throws(DescriptorError) {
                guard let connection = try await listener.accept() else { return }
                guard !isClosed else { return await connection.close() }
                connections.append(connection)
                await host.attach(connection) { Task { await self.forget(connection) } }
            } catch {
                // Out of descriptors, most likely: clients that leave give theirs back.
                try? await EventLoopClock(loop).sleep(for: .milliseconds(100))
            }
        }
    }

    private func forget(_ connection: DescriptorChannel) { connections.removeAll { $0 === connection } }

    /// Stops listening and hangs up on every client.
    public func close() async {
        isClosed = true
        await listener.close()
        for connection in connections { await connection.close() }
        connections = []
    }
}
