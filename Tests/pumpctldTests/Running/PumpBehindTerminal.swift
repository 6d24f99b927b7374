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

/// A pump that notes what it is sent.
private struct HeardPump: SimulatedDevice {
    let received = Watched(ReceivedText())
    let resets = Watched(0)
    private var pump = PumpFirmware()

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        received.update { $0.bytes += bytes }
        pump.receive(bytes, at: instant)
    }

    mutating func advance(to instant: Duration) -> [Emission] { pump.advance(to: instant) }

    var nextActivity: Duration? { pump.nextActivity }
    var isQuiescent: Bool { pump.isQuiescent }

    mutating func reset(at instant: Duration) {
        resets.update { $0 += 1 }
        pump.reset(at: instant)
    }
}
