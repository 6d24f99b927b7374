import BlueZ
import DBus
import DescriptorIO
import FakeBlueZ
import FirmwareSim
import LineProtocol
import TestSupport

@testable import Transports

/// A simulated device of this process, whose time goes by on demand, offered over BLE: on one adapter of a fake bluetoothd,
/// for centrals on the other.
struct OfferedDevice<Device: SimulatedPeripheral> {
    private static var address: String { "00:00:5E:00:53:02" }
    /// What BLE 5 devices mostly agree on.
    private static var mtu: Int { 517 }

    let host: DeviceHost<Device>
    /// Where it is, for a link on its bus.
    var endpoint: String { "ble:\(Self.address)" }
    private let bus: PrivateBus
    private let bluetoothd: FakeBlueZ
    private let bluez: BlueZ
    private let server: PeripheralServer<Device>

    init(_ device: Device) async throws {
        bus = try await PrivateBus()
        bluetoothd = try await FakeBlueZ.start(on: bus.address)
        await bluetoothd.addAdapter("hci0")
        let adapter = await bluetoothd.addAdapter("hci1", address: Self.address)
        await Radio.run { adapter.ownRadio.manners.mtu = Self.mtu }
        bluez = try await BlueZ.open(.address(bus.address))
        host = DeviceHost(device, pace: .onDemand, hasFlowControl: true)
        server = try await PeripheralServer.open(host, over: bluez, on: "hci1")
    }

    /// What makes `pumpctl` find it.
    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

    /// Opens a link to it.
    func link(_ family: String) async throws -> any Link {
        try await BLEEndpoint.open(
            Endpoint("\(endpoint)?family=\(family)"), on: .shared, bus: .address(bus.address))
    }

    func stop() async {
        await server.close()
        await bluez.close()
        await bluetoothd.stop()
    }
}
