import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import TestSupport

/// A fake bluetoothd on its own bus, for running `pumpctl`.
struct BLEBench {
    let bus: PrivateBus
    let fake: FakeBlueZ
    /// The clock of the fake bluetoothd, which stands still until a test advances it. bluetoothd forgets a device that
    /// it has not received for 30 s.
    let clock = ManualClock()
    let adapter: FakeAdapter

    /// - Parameter isForbidden: Whether the bus denies all access to bluetoothd.
    init(isForbidden: Bool = false) async throws {
        bus = try await PrivateBus(denying: isForbidden ? "org.bluez" : nil)
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        adapter = await fake.addAdapter()
    }

    /// The environment that makes `pumpctl` use this bus.
    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

    func run(_ arguments: String...) async throws -> ChildProcess.Ending {
        try await Pumpctl.start(arguments, environment: environment).ending()
    }

    func start(_ arguments: String...) async throws -> ChildProcess {
        try await Pumpctl.start(arguments, environment: environment)
    }

    /// Brings a device into reach, which advertises itself with this name and these services, and is received with a
    /// strength of `strength` dBm.
    @discardableResult @Radio
    func add(
        _ address: String, name: String? = nil, services: [String] = [], strength: Int16 = -60
    ) -> RadioDevice {
        let device = RadioDevice(address, Advertisement(name: name, services: services))
        device.signalStrength = strength
        fake.add(device)
        return device
    }

    /// Waits until clients have called a method of bluetoothd `times` times since the bench was created.
    func untilCalled(_ member: String, times: Int = 1) async throws {
        _ = try await fake.calls.wait(for: "\(times) calls of \(member)") { calls in
            calls.count { $0.member == member } >= times ? true : nil
        }
    }
}

/// Calls `body` with a bench, and closes the bench afterwards.
func withBLEBench(isForbidden: Bool = false, _ body: (BLEBench) async throws -> Void) async throws {
    let bench = try await BLEBench(isForbidden: isForbidden)
    do {
        try await body(bench)
    } catch {
        await bench.fake.stop()
        throw error
    }
    await bench.fake.stop()
}
