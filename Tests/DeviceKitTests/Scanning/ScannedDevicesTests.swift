import BlueZ
import DeviceKit
import TestSupport
import Testing

@Suite struct ScannedDevicesTests {
    @Test func `Devices are sorted by signal, then connected devices, then the others`() {
        var devices = ScannedDevices()
        let all = [
            device(1, rssi: -70), device(2), device(3, isConnected: true), device(4, rssi: -40), device(5, rssi: -70),
        ]
        for device in all { devices[device.address] = device }
        #expect(devices.sorted.map { $0.address.description.suffix(1) } == ["4", "1", "5", "3", "2"])
    }

    @Test func `An empty or NUL name counts as no name`() {
        for name in ["", "\0\0\0"] { #expect(device(1, name: name).name == nil) }
    }

    @Test func `JSON has all keys, with null for unknown values`() throws {
        #expect(
            try sortedJSON(device(1, name: "HMSoft", rssi: -52, services: ["FFE0"]))
                == #"{"address":"00:00:00:00:00:01","connected":false,"family":null,"name":"HMSoft","#
                + #""possible_families":["pump"],"possible_family":"pump","rssi_dbm":-52,"#
                + #""services":["FFE0"]}"#)
        #expect(
            try sortedJSON(device(2, isConnected: true))
                == #"{"address":"00:00:00:00:00:02","connected":true,"family":null,"name":null,"#
                + #""possible_families":[],"possible_family":null,"rssi_dbm":null,"services":[]}"#)
    }

    private func device(
        _ number: Int, name: String? = nil, rssi: Int? = nil, services: [BluetoothUUID] = [], isConnected: Bool = false
    ) -> ScannedDevice {
        let digits = (number < 16 ? "0" : "") + String(number, radix: 16)
        guard let address = BluetoothAddress("00:00:00:00:00:\(digits)") else { preconditionFailure("no address") }
        return ScannedDevice(address, name: name, rssi: rssi, services: services, isConnected: isConnected)
    }
}
