import FirmwareSim
import TestSupport

/// A simulated pump on a pseudo-terminal, with a record of its input.
final class PumpBehindTerminal: Sendable {
    let folder = TemporaryFolder()
    /// The text sent to the pump.
    let received: Watched<ReceivedText>
    /// The number of resets of the board.
    let resets: Watched<Int>
    private let running: Task<Void, any Error>
    private let server: PseudoTerminalServer<HeardPump>

    /// The path of the pump's serial port, a link to the pseudo-terminal.
    var port: String { folder.path("port") }

    init() async throws {
        let pump = HeardPump()
        (received, resets) = (pump.received, pump.resets)
        let host = DeviceHost(pump, pace: .realTime(ContinuousClock()))
        server = try await PseudoTerminalServer.open(host, link: folder.path("port"))
        running = Task(executorPreference: host.loop) { try await host.run() }
    }

    /// Unplugs the pump.
    func close() async {
        running.cancel()
        await server.close()
    }
}
