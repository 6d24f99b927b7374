import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport

/// The address of hci1, on which a device is offered.
let offeredAddress = "00:00:5E:00:53:02"

/// A fake bluetoothd with a device that is offered on hci1, and with a central on hci0 that is connected to the device.
struct RadioBench<Device: SimulatedPeripheral> {
    let bus: PrivateBus
    let fake: FakeBlueZ
    let adapter: FakeAdapter
    let bluez: BlueZ
    let host: DeviceHost<Device>
    let server: PeripheralServer<Device>
    let central: TestCentral
    let events = Watched<[PeripheralEvent]>([])

    init(
        _ device: Device, judge: HostJudge? = nil, pace: DeviceHost<Device>.Pace = .onDemand, mtu: Int = 23
    ) async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
        await fake.addAdapter()
        adapter = await fake.addAdapter("hci1", address: offeredAddress)
        await adapter.setMTU(mtu)
        bluez = try await BlueZ.open(.address(bus.address))
        host = DeviceHost(device, pace: pace, judge: judge, hasFlowControl: true)
        server = try await PeripheralServer.open(host, over: bluez, on: "hci1") { [events] event in
            events.update { $0.append(event) }
        }
        central = try await TestCentral(on: bus.address, for: offeredAddress)
        _ = try await central.find()
        try await central.connect()
    }

    func close() async {
        await central.close()
        await server.close()
        await bluez.close()
        await fake.stop()
    }
}

/// Runs `body` with a bench on which `device` is offered.
func withRadioBench<Device>(
    _ device: Device, judge: HostJudge? = nil, pace: DeviceHost<Device>.Pace = .onDemand, mtu: Int = 23,
    _ body: (RadioBench<Device>) async throws -> Void
) async throws {
    let bench = try await RadioBench(device, judge: judge, pace: pace, mtu: mtu)
    do {
        try await body(bench)
    } catch {
        await bench.close()
        throw error
    }
    await bench.close()
}

extension FakeAdapter {
    func setMTU(_ mtu: Int) { ownRadio.manners.mtu = mtu }
}
