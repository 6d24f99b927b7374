import BlueZ
import DBus
import DescriptorIO
import DeviceKit
import FakeBlueZ
import FirmwareSim
import LineProtocol
import PeripheralSim
import TestSupport

@testable import Transports

/// A simulated device in this process whose time advances on demand, offered over BLE: on the second of two adapters of
/// a fake bluetoothd, for centrals on the first.
struct OfferedDevice<Radio: SimulatedPeripheral>: Sendable {
    /// The address of the second adapter.
    private static var address: String { "00:00:5E:00:53:02" }

    let host: DeviceHost<Radio>
    /// The device's endpoint. It exists only on the private bus of this device.
    var endpoint: String { "ble:\(Self.address)?adapter=hci0" }
    /// The environment that makes other programs use that bus.
    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }
    private let bus: PrivateBus
    private let bluetoothd: FakeBlueZ
    private let bluez: BlueZ
    private let server: PeripheralServer<Radio>

    /// - Parameter mtu: The MTU of the central's connection. Most BLE 5 devices agree on 517.
    init(_ radio: Radio, mtu: Int = 517) async throws {
        bus = try await PrivateBus()
        bluetoothd = try await FakeBlueZ.start(on: bus.address)
        await bluetoothd.addAdapter("hci0")
        await bluetoothd.addAdapter("hci1", address: Self.address).setMTU(mtu)
        bluez = try await BlueZ.open(.address(bus.address))
        host = DeviceHost(radio, pace: .onDemand, hasFlowControl: true)
        server = try await PeripheralServer.open(host, over: bluez, on: "hci1")
    }

    /// Opens a link to the device. If `family` is nil, the device's services determine the family.
    func link(_ family: String? = nil) async throws -> any Link {
        let endpoint = endpoint + (family.map { "&family=\($0)" } ?? "")
        return try await BLEEndpoint.open(
            Endpoint(endpoint), on: .shared, bus: .address(bus.address), as: BLEUse(profiles: .families))
    }

    func stop() async {
        await server.close()
        await bluez.close()
        await bluetoothd.stop()
        bus.kill()
    }
}

extension FakeAdapter {
    fileprivate func setMTU(_ mtu: Int) { ownRadio.manners.mtu = mtu }
}
