import BlueZ
import DeviceKit
import FirmwareSim
import PeripheralSim
import Testing
import Transports

@Suite("Carriers in docs/protocols.md")
struct ProtocolCarrierTests {
    /// The families with a protocol of their own: all except `raw`.
    private static let families = Family.all.filter { $0 != .raw }

    /// The heading of each family's section.
    private static let headings = [
        "pump": "Pump", "storm": "Storm sensor", "led": "LED board", "peer": "Peer", "rescue": "Rescue app",
    ]

    /// The BLE services that each family's simulator offers.
    private static let offered = [
        "pump": HM10Module(PumpFirmware()).offered, "storm": StormPeripheral().offered,
        "led": LEDPeripheral().offered, "peer": PeerPeripheral().offered, "rescue": RescuePeripheral().offered,
    ]

    @Test("Each family is in the table with its baud rate and BLE service")
    func families() throws {
        let simulators: [Simulator] = [.pump, .storm, .led, .peer, .rescue]
        let rows = try ProtocolPage().rows(below: "The protocols of the device families", of: "family")
        #expect(rows.map { $0["family"]?.spans ?? [] } == Self.families.map { [$0.name] })
        for (row, (family, simulator)) in zip(rows, zip(Self.families, simulators)) {
            #expect(row["serial port"] == "\(family.baudRate) baud")
            #expect(simulator.name == family.name)
            #expect(try simulator.settings().lineRate == .baud(family.baudRate))
            let service = try #require(BluetoothUUID(row["BLE service"]?.spans.first ?? ""))
            let profile = try #require(GATTProfiles.families.profiles(of: family.name).first)
            #expect(profile.services.first == service)
            #expect(Self.offered[family.name]?.services.map(\.uuid) == [service])
        }
    }

    @Test("The table of characteristics matches the profile and the simulator")
    func characteristics() throws {
        for family in Self.families.map(\.name) {
            let rows = try ProtocolPage().rows(below: Self.headings[family] ?? "", of: "characteristic")
            var told: [BluetoothUUID: Set<LocalCharacteristic.Flag>] = [:]
            for row in rows {
                let uuid = try #require(BluetoothUUID(row["characteristic"]?.spans.first ?? ""))
                told[uuid] = Set(
                    try (row["properties"] ?? "").spans.map { try #require(LocalCharacteristic.Flag(rawValue: $0)) })
            }
            let offered = try #require(Self.offered[family]?.services.first?.characteristics)
            #expect(Set(told.keys) == Set(offered.map(\.uuid)), "\(family)")
            for characteristic in offered {
                #expect(told[characteristic.uuid]?.isSubset(of: characteristic.flags) == true, "\(family)")
            }
            let profile = try #require(GATTProfiles.families.profiles(of: family).first)
            let write: LocalCharacteristic.Flag = profile.writeType == .command ? .writeWithoutResponse : .write
            #expect(told[profile.write]?.contains(write) == true, "\(family)")
            // The host needs notifications of the characteristic that it hears, or reads its value.
            #expect(told[profile.hear]?.isDisjoint(with: [.notify, .read]) == false, "\(family)")
        }
    }
}
