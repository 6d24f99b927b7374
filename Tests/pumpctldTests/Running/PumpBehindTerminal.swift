import FirmwareSim
import TestSupport

/// A simulated pump on a pseudo-terminal, and all that it has been sent.
final class PumpBehindTerminal: Sendable {
    let folder = TemporaryFolder()
    let received: Watched<ReceivedText>
    /// How often the board was reset.
    let resets: Watched<Int>
    private let running: Task<Void, any Error>
    private let server: PseudoTerminalServer<HeardPump>

    /// Where its serial port is.
    var port: String { folder.path("port") }

    init() async throws {
        let pump = HeardPump()
        (received, resets) = (pump.received, pump.resets)
        let host = DeviceHost(pump, pace: .realTime(ContinuousClock()))
        server = try await PseudoTerminalServer.open(host, link: folder.path("port"))
        running = Task(executorPreference: host.loop) { try await host.run() }
    }

    /// Unplugs it.
    func close() async {
        running.cancel()
        await server.close()
    }
}
