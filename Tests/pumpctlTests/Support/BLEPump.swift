import DescriptorIO
import FakeBlueZ
import FirmwareSim
import TestSupport

/// A simulated pump behind an HM-10 on a fake bluetoothd. The pump's time advances on demand: see
/// `DeviceHost.Pace.onDemand`.
struct BLEPump {
    let bus: PrivateBus
    let fake: FakeBlueZ
    let module: HM10<PumpFirmware>

    /// - Parameter clock: bluetoothd's clock.
    init(clock: any Clock<Duration> = EventLoopClock(Radio.loop)) async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        await fake.addAdapter()
        // At 716, the knob stands for the speed at which ON starts, 70 %.
        module = try await HM10(
            PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5), potentiometer: 716)),
            pace: .onDemand)
        await fake.add(module.radio)
    }

    /// Runs `pumpctl` with this bluetoothd.
    func run(_ arguments: String...) async throws -> ChildProcess.Ending {
        try await Pumpctl.start(arguments, environment: bus.environment).ending()
    }

    func start(_ arguments: String...) async throws -> ChildProcess {
        try await Pumpctl.start(arguments, environment: bus.environment)
    }

    /// The pump's PWM duty, 0 to 255; nil while the pump is off.
    func duty() async -> Int? { await module.host.change { pump, _ in pump.isEnabled ? Int(pump.duty) : nil } }
}

extension FakeBlueZ {
    /// Switches off the first adapter, which breaks its links.
    func switchOff() { adapters.first?.isPowered = false }
}
