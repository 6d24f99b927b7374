import BlueZ
import DeviceKit
import LineProtocol
import Testing
import Transports

@Suite struct GATTProfilesTests {
    private let profiles = GATTProfiles.families

    @Test func `Each family has a GATT profile, and profile names are unique`() {
        #expect(profiles.families == ["pump", "peer", "storm", "led", "rescue"])
        #expect(
            profiles.all.map(\.name) == ["hm10", "bt4502w", "issc", "nus", "storm", "storm-live", "led", "rescue"])
        #expect(profiles.profiles(of: "pump").map(\.name) == ["hm10", "bt4502w", "issc"])
    }

    @Test(arguments: [
        ("pump", "FFE0", "FFE1", "FFE1", 20),
        (
            "led", "937312E0-2354-11EB-9F10-FBC30A62CF38",
            "957312E0-2354-11EB-9F10-FBC30A62CF38", "957312E0-2354-11EB-9F10-FBC30A62CF38", 1
        ),
        ("rescue", "FFF0", "FFF1", "FFF1", 510),
    ])
    func `The first profile of a family is the one of its protocol`(
        family: String, service: String, write: String, hear: String, chunkLength: Int
    ) throws {
        let profile = try #require(profiles.profiles(of: family).first)
        #expect(profile.services.first == BluetoothUUID(service))
        #expect(profile.write == BluetoothUUID(write))
        #expect(profile.hear == BluetoothUUID(hear))
        #expect(profile.chunkLength == chunkLength)
    }

    @Test func `A profile has the UUIDs of its family's table`() throws {
        for storm in [GATTProfile.storm, .stormLive] {
            #expect(storm.services == [BluetoothUUID("4FAFC201-1FB5-459E-8FCC-C5C9C331914B")])
            #expect(storm.write == BluetoothUUID(StormCharacteristic.backup.rawValue))
            #expect(storm.mark == BluetoothUUID(StormCharacteristic.live.rawValue))
            #expect(storm.keepsPacketBounds)
        }
        #expect(GATTProfile.storm.hear == BluetoothUUID(StormCharacteristic.backup.rawValue))
        #expect(GATTProfile.stormLive.hear == BluetoothUUID(StormCharacteristic.live.rawValue))
        #expect(GATTProfile.led.values.map(\.name) == LEDEndpoint.all.map(\.lineName))
        #expect(
            GATTProfile.led.values.map(\.characteristic)
                == LEDEndpoint.all.map { BluetoothUUID($0.characteristic) })
        #expect(!GATTProfile.led.keepsPacketBounds)
        #expect(profiles.all.filter { !$0.values.isEmpty } == [.led])
    }

    @Test func `Services of many devices identify no family`() {
        #expect(Set(profiles.all.filter(\.isUnique).flatMap(\.families)) == ["led", "storm"])
        #expect(profiles.profiles(of: "storm").allSatisfy { $0.mark != nil })
    }

    @Test(arguments: [[0], [1], [0x80], [], [1, 2]] as [[UInt8]])
    func `An LED characteristic of one byte becomes a value line, any other an unknown line`(
        bytes: [UInt8]
    ) throws {
        let value = try #require(GATTProfile.led.values.first)
        let line = value.line(bytes: bytes)
        let isValue = bytes.count == 1
        #expect(
            LEDMessage(line: Array(line.utf8).span)
                == (isValue ? .value(.led, .boolean(bytes != [0])) : .unknown(Array(line.utf8))))
    }

    @Test func `A new family may use an existing profile`() throws {
        var profiles = profiles
        profiles.add(.hm10, for: "scale")
        #expect(profiles.profiles(of: "scale").map(\.name) == ["hm10"])
        #expect(try BLEEndpoint(Endpoint("ble:*?family=scale"), among: profiles).profiles.map(\.name) == ["hm10"])
        #expect(try BLEEndpoint(Endpoint("ble:*?family=pump"), among: profiles).profiles.count == 3)
    }
}
