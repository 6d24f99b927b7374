import DBus
import DescriptorIO
import FakeBlueZ
import FirmwareSim
import LineProtocol
import SerialPort
import SimControl
import TestSupport

@testable import Transports

/// The simulator in this process, on a pseudo-terminal, or behind an HM-10 with a fake bluetoothd.
final class SimulatedRig: PumpRig {
    /// The time in which the pump notices a change: more than three turns of its main loop, each of which takes about
    /// 110 ms.
    private static let notice = Duration.milliseconds(400)

    private let host: DeviceHost<PumpFirmware>
    private let open: @Sendable () async throws -> any Link
    private let close: @Sendable () async -> Void

    /// - Parameter interruptsReplies: Whether the pump may send a report between the two lines of a reply.
    init(thermistors: Int, interruptsReplies: Bool = false, isBehindModule: Bool = false) async throws {
        let options = PumpFirmwareOptions(
            thermistors: thermistors == 1 ? .one : .two, bootBanner: .banner, interruptsReplies: interruptsReplies,
            saturatesNumbers: true, heat: .fixed(water: RigKind.water, skin: RigKind.skin),
            potentiometer: RigKind.potentiometer)
        let pump = PumpFirmware(options: options)
        if isBehindModule {
            let bus = try await PrivateBus()
            let bluetoothd = try await FakeBlueZ.start(on: bus.address)
            await bluetoothd.addAdapter()
            let module = try await HM10(pump, pace: .onDemand)
            await bluetoothd.add(module.radio)
            host = module.host
            open = { try await BLEEndpoint.open(Endpoint("ble:HMSoft"), on: .shared, bus: .address(bus.address)) }
            close = {
                await bluetoothd.stop()
                bus.kill()
                withExtendedLifetime(module) {}
            }
        } else {
            let host = DeviceHost(pump, pace: .onDemand)
            let server = try await PseudoTerminalServer.open(host)
            self.host = host
            open = { try await LinkSchemes.standard.open(Endpoint(server.path)) }
            close = { await server.close() }
        }
    }

    /// Opens a control socket for the pump, like that of `pumpctl sim pump --control`.
    func controlled(at path: String) async throws -> SimulationServer {
        let server = try await SimulationServer.open(for: "pump", at: path)
        await server.add(host.handle, number: 1)
        return server
    }

    func link() async throws -> any Link { try await open() }

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
        await host.advance(by: time + Self.notice)
    }

    func reset() async {
        await host.change { pump, now in pump.reset(at: now) }
        await host.advance(by: PumpFirmware.bootloaderTime + PumpFirmware.setupTime + Self.notice)
    }

    func motor() async -> Motor {
        await host.change { pump, _ in Motor(isEnabled: pump.isEnabled, duty: Int(pump.duty)) }
    }

    func stop() async { await close() }
}
