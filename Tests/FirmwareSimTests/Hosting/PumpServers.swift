import DescriptorIO
import FirmwareSim
import SerialPort
import TestSupport

/// What a served device is reached by.
enum ServedBy: CaseIterable, Sendable {
    case pseudoTerminal, tcp, unixSocket

    /// Offers the device of `host`.
    ///
    /// - Parameters:
    ///   - broadcasts: Whether the clients of a socket share the line.
    ///   - onRefusal: Called each time a client of a socket was hung up on.
    func serve(
        _ host: DeviceHost<PumpFirmware>, broadcasts: Bool = false, onRefusal: (@Sendable () -> Void)? = nil
    ) async throws -> PumpServer {
        switch self {
        case .pseudoTerminal:
            // A terminal's number is another's once it is closed; the link is not.
            let server = try await PseudoTerminalServer.open(host, link: temporaryPath("pump"))
            return PumpServer(client: { try HostClient(terminal: server.path) }, close: { await server.close() })
        case .tcp:
            let server = try await SocketServer.open(
                host, at: .tcp(host: "127.0.0.1", port: 0), broadcasts: broadcasts, onRefusal: onRefusal)
            let address = SocketAddress.tcp(host: "127.0.0.1", port: server.port ?? 0)
            return PumpServer(client: { try await HostClient(address) }, close: { await server.close() })
        case .unixSocket:
            let address = SocketAddress.unix(path: temporaryPath("pump.sock"))
            let server = try await SocketServer.open(
                host, at: address, broadcasts: broadcasts, onRefusal: onRefusal)
            return PumpServer(client: { try await HostClient(address) }, close: { await server.close() })
        }
    }
}

/// A device that is on offer.
struct PumpServer: Sendable {
    let newClient: @Sendable () async throws -> HostClient
    let close: @Sendable () async -> Void

    init(client: @escaping @Sendable () async throws -> HostClient, close: @escaping @Sendable () async -> Void) {
        newClient = client
        self.close = close
    }

    /// A client that the device has noticed.
    func client() async throws -> HostClient {
        let client = try await newClient()
        await settle()
        return client
    }
}

/// A pump whose time goes by on demand.
func pumpHost() -> DeviceHost<PumpFirmware> {
    let options = PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34), potentiometer: 716)
    return DeviceHost(PumpFirmware(options: options), pace: .onDemand)
}
