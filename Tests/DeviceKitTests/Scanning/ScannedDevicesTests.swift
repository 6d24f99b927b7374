import BlueZ
import DeviceKit
import Testing

@Suite struct ScannedDevicesTests {
    @Test func `The strongest comes first, then what is connected, then what is not heard`() {
        var devices = ScannedDevices()
        let all = [
            device(1, rssi: -70), device(2), device(3, isConnected: true), device(4, rssi: -40), device(5, rssi: -70),
        ]
        for device in all { devices[device.address] = device }
        #expect(devices.sorted.map { $0.address.description.suffix(1) } == ["4", "1", "5", "3", "2"])
    }

    @Test func `A name that is hidden in an advertisement is none`() {
        for name in ["", "\0\0\0"] { #expect(device(1, name: name).name == nil) }
    }

    private func device(
        _ number: Int, name: String? = nil, rssi: Int? = nil, services: [BluetoothUUID] = [], isConnected: Bool = false
    ) -> ScannedDevice {
        let digits = (number < 16 ? "0" : "") + String(number, radix: 16)
        guard let address = BluetoothAddress("00:00:00:00:00:\(digits)") else { preconditionFailure("no address") }
        return ScannedDevice(address, name: name, rssi: rssi, services: services, isConnected: isConnected)
    }
}
