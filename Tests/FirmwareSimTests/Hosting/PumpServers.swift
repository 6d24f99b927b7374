import DescriptorIO
import DeviceTestKit
import FirmwareSim
import SerialPort
import TestSupport

/// The carrier of a served device.
enum ServedBy: CaseIterable, Sendable {
    case pseudoTerminal, tcp, unixSocket

    /// Serves the device of `host`.
    ///
    /// - Parameters:
    ///   - broadcasts: Whether the clients of a socket share the line.
    ///   - onRefusal: Called each time the server has hung up on a client of a socket.
    func serve(
        _ host: DeviceHost<PumpFirmware>, broadcasts: Bool = false, onRefusal: (@Sendable () -> Void)? = nil
    ) async throws -> PumpServer {
        switch self {
        case .pseudoTerminal:
            // Another terminal may reuse a closed terminal's number, but not the path of the link.
            let folder = TemporaryFolder()
            let server = try await PseudoTerminalServer.open(host, link: folder.path("pump"))
            return PumpServer(
                in: folder, client: { try HostClient(terminal: server.path) }, close: { await server.close() })
        case .tcp:
            let server = try await SocketServer.open(
                host, at: .tcp(host: "127.0.0.1", port: 0), broadcasts: broadcasts, onRefusal: onRefusal)
            let address = SocketAddress.tcp(host: "127.0.0.1", port: server.port ?? 0)
            return PumpServer(client: { try await HostClient(address) }, close: { await server.close() })
        case .unixSocket:
            let folder = TemporaryFolder()
            let address = SocketAddress.unix(path: folder.path("pump.sock"))
            let server = try await SocketServer.open(
                host, at: address, broadcasts: broadcasts, onRefusal: onRefusal)
            return PumpServer(
                in: folder, client: { try await HostClient(address) }, close: { await server.close() })
        }
    }
}

/// A device that is being served.
struct PumpServer: Sendable {
    let newClient: @Sendable () async throws -> HostClient
    let close: @Sendable () async -> Void
    /// The folder of the server's path, if there is one.
    private let folder: TemporaryFolder?

    init(
        in folder: TemporaryFolder? = nil, client: @escaping @Sendable () async throws -> HostClient,
        close: @escaping @Sendable () async -> Void
    ) {
        self.folder = folder
        newClient = client
        self.close = close
    }

    /// Creates a client, and waits until the device has noticed it.
    func client() async throws -> HostClient {
        let client = try await newClient()
        await settle()
        return client
    }
}

/// A pump whose time advances on demand.
func pumpHost() -> DeviceHost<PumpFirmware> {
    let options = PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34), potentiometer: 716)
    return DeviceHost(PumpFirmware(options: options), pace: .onDemand)
}
