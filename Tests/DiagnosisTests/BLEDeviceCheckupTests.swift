import BlueZ
import DeviceKit
import LineProtocol
import Testing
import Transports

@testable import Diagnosis

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
    ) -> [Check: Finding] {
        let checkup = BLEDeviceCheckup(
            endpoint: "ble:HMSoft", target: target, inSight: inSight, remembered: remembered, programs: programs)
        return Dictionary(uniqueKeysWithValues: checkup.findings.map { ($0.check, $0) })
    }

    @Test func `A device behind an HM-10 may be a pump or another device`() throws {
        let found = check([try Self.device("10", "HMSoft", -52)])
        #expect(found.values.allSatisfy { [.good, .unknown].contains($0.status) })
        #expect(found[.inSight]?.fact == "in range: HMSoft, 00:15:83:00:00:10, -52 dBm")
        #expect(found[.services]?.fact == "offers HM-10 serial")
        #expect(found[.profile]?.fact == "pump, or another device behind an HM-10, profile hm10")
        #expect(found[.profile]?.status == .unknown)
    }

    @Test func `A service that only one family has determines the family`() throws {
        let board = try Self.device("10", "HMSoft", -52, ["937312E0-2354-11EB-9F10-FBC30A62CF38"])
        #expect(check([board])[.profile] == .good(.profile, of: "ble:HMSoft", "family led, profile led"))
    }

    @Test func `A weak, ambiguous, unknown or connected device gets a remedy`() throws {
        let weak = try Self.device("10", "HMSoft", -95, ["180F"])
        let found = check([weak, try Self.device("11", "HMSoft", -99)])
        #expect(found[.inSight]?.remedy == "move the device closer")
        #expect(found[.name]?.remedy == .nameByAddress(weak.address))
        #expect(found[.name]?.status == .bad && found[.name]?.obstacle == .ambiguous)
        #expect(found[.profile]?.remedy?.description.contains("?profile=hm10") == true)
        let taken = check([try Self.device("10", "HMSoft", nil, connected: true)], programs: ["bluetoothctl", "sh"])
        #expect(taken[.connection]?.fact.description.contains("perhaps bluetoothctl") == true)
        #expect(taken[.connection]?.remedy?.description.hasSuffix("bluetoothctl disconnect 00:15:83:00:00:10") == true)
    }

    @Test func `A name is found in any case, and a changed address behind it is an error`() throws {
        let found = check([try Self.device("11", "hmsoft", -52)])
        #expect(found[.inSight]?.status == .good)
        let checkup = BLEDeviceCheckup(
            endpoint: "ble:HMSoft", target: .name("HMSoft"), inSight: [try Self.device("11", "HMSoft", -52)],
            before: BluetoothAddress("00:15:83:00:00:10"))
        let change = checkup.findings.first { $0.check == .name }
        #expect(change?.status == .bad && change?.obstacle == .changedDevice)
        #expect(change?.fact == "the name resolved to 00:15:83:00:00:10 before, and resolves to 00:15:83:00:00:11 now")
        #expect(
            change?.remedy == .nameByAddressOrForget(try Self.device("11", "HMSoft", nil).address, name: "HMSoft"))
    }

    @Test func `A service that other devices share only suggests the family`() throws {
        let sensor = try Self.device("10", "HMSoft", -50, ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"])
        #expect(check([sensor])[.profile]?.fact.description.hasPrefix("perhaps family storm") == true)
    }

    @Test func `A device out of range fails the check, and the devices in range are listed`() throws {
        let other = try Self.device("11", "HM\u{1B}Sofa", -50)
        let absent = check([other])[.inSight]
        #expect(absent?.status == .bad)
        #expect(absent?.obstacle == .notFound)
        #expect(absent?.remedy?.description.hasSuffix("in range: HM\\x1bSofa") == true)
        let blanks = try [
            Self.device("11", "Lamp, big", -50), Self.device("12", " ", -60), Self.device("13", "Lamp", -70),
        ]
        let list = check(blanks)[.inSight]?.remedy?.description
        #expect(list?.hasSuffix("in range: 'Lamp, big', ' ', Lamp") == true, "\(list ?? "")")
        let known = check([other], remembered: [try Self.device("10", "HMSoft", nil)])[.inSight]
        #expect(known?.fact == "known, but not in range")
        #expect(known?.obstacle == .notFound)
    }
}
