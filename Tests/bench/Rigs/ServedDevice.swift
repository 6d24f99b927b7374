import DescriptorIO
import FirmwareSim
import SerialPort
import TestSupport

/// The kind of wire on which a simulated device is served.
enum WirePlace: String, Sendable, CaseIterable { case terminal, tcp, unix }

/// A simulated device of this process, whose time advances on demand, on a pseudo-terminal or a socket.
struct ServedDevice<Device: SimulatedDevice>: Sendable {
    typealias Place = WirePlace

    let host: DeviceHost<Device>
    /// The device's endpoint.
    let endpoint: String
    private let close: @Sendable () async -> Void

    init(_ device: Device, on place: Place) async throws {
        host = DeviceHost(device, pace: .onDemand, hasFlowControl: true)
        switch place {
        case .terminal:
            let server = try await PseudoTerminalServer.open(host)
            endpoint = server.path
            close = { await server.close() }
        case .tcp:
            let server = try await SocketServer.open(host, at: .tcp(host: "127.0.0.1", port: 0))
            endpoint = "tcp:127.0.0.1:\(server.port ?? 0)"
            close = { await server.close() }
        case .unix:
            let folder = TemporaryFolder()
            let server = try await SocketServer.open(host, at: .unix(path: folder.path("device.sock")))
            endpoint = "unix:" + folder.path("device.sock")
            close = { [folder] in
                await server.close()
                // The folder exists as long as this closure.
                _ = folder
            }
        }
    }

    func stop() async { await close() }
}
