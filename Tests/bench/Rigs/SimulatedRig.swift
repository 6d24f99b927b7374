import DescriptorIO
import FirmwareSim
import SerialPort
import Synchronization

/// The simulator, served on a pseudo-terminal by this process.
final class SimulatedRig: PumpRig {
    /// Longer than a turn of the main loop.
    private static let notice = Duration.milliseconds(400)

    private let host: DeviceHost<PumpFirmware>
    private let server: PseudoTerminalServer<PumpFirmware>
    /// By how much the clock was moved. The simulator lives through that.
    private let moved = Mutex(Duration.zero)

    var endpoint: String { server.path }

    init(thermistors: Int, interruptsReplies: Bool = false) async throws {
        let options = PumpFirmwareOptions(
            thermistors: thermistors == 1 ? .one : .two, bootBanner: .banner, interruptsReplies: interruptsReplies,
            heat: .fixed(water: RigKind.water, skin: RigKind.skin))
        host = DeviceHost(PumpFirmware(options: options), pace: .onDemand)
        server = try await PseudoTerminalServer.open(host)
    }

    func pressButton() async {
        await host.change { pump, now in pump.pressButton(at: now) }
        await host.advance(by: Self.notice)
    }

    func setSkin(_ celsius: Double) async {
        await host.change { pump, _ in pump.setSkinTemperature(celsius) }
    }

    func setWater(_ celsius: Double) async {
        await host.change { pump, _ in pump.setWaterTemperature(celsius) }
    }

    func setPotentiometer(_ reading: Int) async {
        await host.change { pump, _ in pump.setPotentiometer(reading) }
    }

    func run(for time: Duration) async { await host.advance(by: time) }

    func moveClock(by time: Duration) async {
        moved.withLock { $0 += time }
        await host.advance(by: time + Self.notice)
    }

    func reset() async {
        await host.change { pump, now in pump.reset(at: now) }
        await host.advance(by: PumpFirmware.bootloaderTime + PumpFirmware.setupTime + Self.notice)
    }

    func motor() async -> Motor {
        await host.change { pump, _ in Motor(isEnabled: pump.isEnabled, duty: Int(pump.duty)) }
    }

    func lifetime() async -> Duration {
        let moved = moved.withLock { $0 }
        return await host.change { _, now in now - moved }
    }

    func stop() async { await server.close() }
}
