import BlueZ
import Testing
import Transports

@testable import pumpctl

@Suite struct BLEDeviceCheckupTests {
    private static func device(
        _ last: String, _ name: String?, _ rssi: Int?, _ services: [BluetoothUUID] = ["FFE0"], connected: Bool = false
    ) throws -> ScannedDevice {
        let address = try #require(BluetoothAddress("00:15:83:00:00:\(last)"))
        return ScannedDevice(address, name: name, rssi: rssi, services: services, isConnected: connected)
    }

    private func check(
        _ inSight: [ScannedDevice], target: BLEEndpoint.Target = .name("HMSoft"), remembered: [ScannedDevice] = [],
        programs: Set<String> = []
    ) -> [String: Diagnosis] {
        let checkup = BLEDeviceCheckup(
            endpoint: "ble:HMSoft", target: target, inSight: inSight, remembered: remembered, programs: programs)
        return Dictionary(uniqueKeysWithValues: checkup.diagnoses.map { ($0.check, $0) })
    }

    @Test func `A pump in sight is known by its profile`() throws {
        let found = check([try Self.device("10", "HMSoft", -52)])
        #expect(found.values.allSatisfy { $0.status == .ok })
        #expect(found["in_sight"]?.finding == "in sight: HMSoft, 00:15:83:00:00:10, -52 dBm")
        #expect(found["services"]?.finding == "offers HM-10 serial")
        #expect(found["profile"]?.finding == "of the family pump, by the profile hm10")
    }

    @Test func `What gets in the way is warned of`() throws {
        let weak = try Self.device("10", "HMSoft", -95, ["180F"])
        let found = check([weak, try Self.device("11", "HMSoft", -99)])
        #expect(found["in_sight"]?.remedy == "move the device closer")
        #expect(found["name"]?.remedy == "name it by its address: --port ble:00:15:83:00:00:10")
        #expect(found["name"]?.status == .fail && found["name"]?.exit == .noInput)
        #expect(found["profile"]?.remedy?.contains("?profile=hm10") == true)
        let taken = check([try Self.device("10", "HMSoft", nil, connected: true)], programs: ["bluetoothctl", "sh"])
        #expect(taken["connection"]?.finding.contains("perhaps bluetoothctl") == true)
        #expect(taken["connection"]?.remedy?.hasSuffix("bluetoothctl disconnect 00:15:83:00:00:10") == true)
    }

    @Test func `A name in other letter case is found, and another device than before is not taken for it`() throws {
        let found = check([try Self.device("11", "hmsoft", -52)])
        #expect(found["in_sight"]?.status == .ok)
        let checkup = BLEDeviceCheckup(
            endpoint: "ble:HMSoft", target: .name("HMSoft"), inSight: [try Self.device("11", "HMSoft", -52)],
            before: BluetoothAddress("00:15:83:00:00:10"))
        let change = checkup.diagnoses.first { $0.check == "name" }
        #expect(change?.status == .fail && change?.exit == .noInput)
        #expect(change?.finding == "that name led to 00:15:83:00:00:10 until now, and to 00:15:83:00:00:11 now")
        #expect(change?.remedy?.hasSuffix("pumpctl forget ble:HMSoft") == true)
    }

    @Test func `A service that others have too decides nothing`() throws {
        let sensor = try Self.device("10", "HMSoft", -50, ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"])
        #expect(check([sensor])["profile"]?.finding.hasPrefix("perhaps of the family storm") == true)
    }

    @Test func `What is not in sight fails, with what is`() throws {
        let other = try Self.device("11", "HM\u{1B}Sofa", -50)
        let absent = check([other])["in_sight"]
        #expect(absent?.status == .fail)
        #expect(absent?.exit == .noInput)
        #expect(absent?.remedy?.hasSuffix("in sight: HM\\x1bSofa") == true)
        let known = check([other], remembered: [try Self.device("10", "HMSoft", nil)])["in_sight"]
        #expect(known?.finding == "known, and not in sight")
        #expect(known?.exit == .noInput)
    }
}
