import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import TestSupport

/// A bus with a fake bluetoothd, one adapter, and one client. The fake's time is that of ``clock``.
struct FakeBench {
    let bus: PrivateBus
    let fake: FakeBlueZ
    let clock: ManualClock
    let adapter: FakeAdapter
    let client: FakeClient

    init(_ adapter: String = "hci0") async throws {
        bus = try await PrivateBus()
        clock = ManualClock()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        self.adapter = await fake.addAdapter(adapter)
        client = try await FakeClient(bus)
    }

    /// Waits until all clients together have called a method at least `times` times.
    func untilCalled(_ member: String, times: Int = 1) async throws {
        _ = try await fake.calls.wait(for: "\(times) calls of \(member)") { calls in
            calls.count { $0.member == member } >= times ? true : nil
        }
    }

    /// Adds a pump behind an HM-10.
    func addPump() async throws -> HM10<PumpFirmware> {
        let pump = try await HM10(PumpFirmware(), pace: .onDemand)
        await fake.add(pump.radio)
        return pump
    }
}

/// Calls `body` with a bench; afterwards stops the fake and closes the client.
func withBench(_ adapter: String = "hci0", _ body: (FakeBench) async throws -> Void) async throws {
    let bench = try await FakeBench(adapter)
    do {
        try await body(bench)
    } catch {
        await bench.fake.stop()
        await bench.client.close()
        throw error
    }
    await bench.fake.stop()
    await bench.client.close()
}
