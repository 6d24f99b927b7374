import BlueZ
import LineProtocol
import Testing

@testable import Transports

@Suite struct GATTProfileTests {
    @Test func `Each family of devices has a profile, and no two profiles one name`() {
        let profiles = GATTProfile.all
        #expect(Set(profiles.map(\.family)) == ["pump", "peer", "storm", "led", "rescue"])
        #expect(Set(profiles.map(\.name)).count == profiles.count)
    }

    @Test(arguments: [
        ("pump", "FFE0", "FFE1", "FFE1", 20),
        (
            "led", "937312E0-2354-11EB-9F10-FBC30A62CF38",
            "957312E0-2354-11EB-9F10-FBC30A62CF38", "957312E0-2354-11EB-9F10-FBC30A62CF38", 1
        ),
        ("rescue", "FFF0", "FFF1", "FFF1", 510),
    ])
    func `The first profile of a family is the one of the protocol`(
        family: String, service: String, write: String, hear: String, chunkLength: Int
    ) throws {
        let profile = try #require(GATTProfile.all.first { $0.family == family })
        #expect(profile.services.first == BluetoothUUID(service))
        #expect(profile.write == BluetoothUUID(write))
        #expect(profile.hear == BluetoothUUID(hear))
        #expect(profile.chunkLength == chunkLength)
    }

    @Test func `A profile has the UUIDs of its family's table`() throws {
        func profile(_ name: String) throws -> GATTProfile { try #require(GATTProfile.all.first { $0.name == name }) }
        for name in ["storm", "storm-live"] {
            let storm = try profile(name)
            #expect(storm.services == [BluetoothUUID("4FAFC201-1FB5-459E-8FCC-C5C9C331914B")])
            #expect(storm.write == BluetoothUUID(StormCharacteristic.backup.rawValue))
            #expect(storm.mark == BluetoothUUID(StormCharacteristic.live.rawValue))
            #expect(storm.keepsPacketBounds)
        }
        #expect(try profile("storm").hear == BluetoothUUID(StormCharacteristic.backup.rawValue))
        #expect(try profile("storm-live").hear == BluetoothUUID(StormCharacteristic.live.rawValue))
        let led = try profile("led")
        #expect(led.services == [BluetoothUUID("937312E0-2354-11EB-9F10-FBC30A62CF38")])
        #expect(led.values == LEDEndpoint.all)
        #expect(!led.keepsPacketBounds)
        #expect(GATTProfile.all.filter { !$0.values.isEmpty } == [led])
    }
}

@Suite struct BLEEndpointTests {
    @Test func `A device is named by its address, its name, or what it offers`() throws {
        #expect(try BLEEndpoint(Endpoint("ble:*")).target == .any)
        #expect(try BLEEndpoint(Endpoint("ble:HMSoft")).target == .name("HMSoft"))
        #expect(
            try BLEEndpoint(Endpoint("ble:aa:bb:cc:dd:ee:ff?adapter=hci1")).target
                == .address(#require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))))
        #expect(try BLEEndpoint(Endpoint("ble:*?adapter=hci1")).adapter == "hci1")
        #expect(try BLEEndpoint(Endpoint("ble:*?family=pump")).profiles.map(\.name) == ["hm10", "bt4502w", "issc"])
        #expect(try BLEEndpoint(Endpoint("ble:x?profile=nus")).profiles.map(\.name) == ["nus"])
    }

    @Test(arguments: [
        ("ble:What%3F", "What?"), ("ble:50%25", "50%"), ("ble:50%", "50%"), ("ble:%2541", "%41"), ("ble:%FF", "%FF"),
        ("ble:a%3fb?adapter=hci1", "a?b"), ("ble:%+1", "%+1"), ("ble:%E2%82%AC", "€"),
    ])
    func `A name may hold what an endpoint means something by`(text: String, name: String) throws {
        #expect(try BLEEndpoint(Endpoint(text)).target == .name(name))
        let written = try Endpoint("ble:\(name.asEndpointName)")
        #expect(try BLEEndpoint(written).target == .name(name))
    }

    @Test(arguments: [
        ("ble:x?colour=red", "adapter, family, hear, pair, profile"),
        ("ble:x?write=FFE", "write is the UUID"), ("ble:x?write=FFE1&hear=", "hear is the UUID"),
        ("ble:x?write=FFE1&profile=nus", "either profile, or write and hear"),
        ("ble:x?family=toaster", "pump, peer, storm, led, rescue"),
        ("ble:x?profile=hm11", "hm10, bt4502w, issc, nus, storm, storm-live, led, rescue"),
    ])
    func `What is no option says what there is`(text: String, hint: String) throws {
        let error = try #require(throws: LinkError.self) { try BLEEndpoint(Endpoint(text)) }
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains(hint) == true)
    }
}
