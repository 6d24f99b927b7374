import BlueZ
import LineProtocol
import Testing

@testable import Transports

@Suite struct GATTProfileTests {
    @Test func `Carrier profiles have no family until one is added`() {
        var profiles = GATTProfiles.carriers
        #expect(profiles.all.map(\.name) == ["hm10", "bt4502w", "issc", "nus"])
        #expect(profiles.families.isEmpty)
        profiles.add(.hm10, for: "lamp")
        profiles.add(.hm10, for: "scale")
        profiles.add(.hm10, for: "lamp")
        #expect(profiles.families == ["lamp", "scale"])
        #expect(profiles.profiles(of: "scale").map(\.name) == ["hm10"])
        #expect(profiles.all.map(\.name) == ["hm10", "bt4502w", "issc", "nus"])
        #expect(GATTProfiles.carriers.families.isEmpty)
    }

    @Test func `A profile of an existing name replaces it, and keeps its families and place`() throws {
        var profiles = GATTProfiles.devices
        profiles.add(
            GATTProfile(
                "hm10", families: ["scale"], services: ["FFB0"], write: "FFB1", hear: "FFB2", writeType: .request,
                chunkLength: 0))
        let profile = try #require(profiles.all.first)
        #expect(profile.name == "hm10" && profile.write == "FFB1")
        #expect(profile.families == ["pump", "scale"])
        #expect(profile.chunkLength == 1)
        #expect(profiles.all.count == GATTProfiles.devices.all.count)
    }
}

@Suite struct BLEEndpointTests {
    @Test func `A BLE device is selected by address, by name, or by family`() throws {
        #expect(try BLEEndpoint(Endpoint("ble:*"), among: .devices).target == .any)
        #expect(try BLEEndpoint(Endpoint("ble:HMSoft"), among: .devices).target == .name("HMSoft"))
        #expect(
            try BLEEndpoint(Endpoint("ble:aa:bb:cc:dd:ee:ff?adapter=hci1"), among: .devices).target
                == .address(#require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))))
        #expect(try BLEEndpoint(Endpoint("ble:*?adapter=hci1"), among: .devices).adapter == "hci1")
        let pumps = try BLEEndpoint(Endpoint("ble:*?family=pump"), among: .devices)
        #expect(pumps.profiles.map(\.name) == ["hm10", "bt4502w", "issc"])
        #expect(try BLEEndpoint(Endpoint("ble:x?profile=nus"), among: .devices).profiles.map(\.name) == ["nus"])
    }

    @Test(arguments: [
        ("ble:What%3F", "What?"), ("ble:50%25", "50%"), ("ble:50%", "50%"), ("ble:%2541", "%41"), ("ble:%FF", "%FF"),
        ("ble:%25FF%3F", "%FF?"),
        ("ble:a%3fb?adapter=hci1", "a?b"), ("ble:%+1", "%+1"), ("ble:%E2%82%AC", "€"),
    ])
    func `Escaped names may contain the special characters of endpoints`(text: String, name: String) throws {
        #expect(try BLEEndpoint(Endpoint(text), among: .devices).target == .name(name))
        let written = try Endpoint("ble:\(name.asEndpointName)")
        #expect(try BLEEndpoint(written, among: .devices).target == .name(name))
    }

    @Test(arguments: [
        ("ble:x?colour=red", "adapter, family, hear, pair, profile"),
        ("ble:x?write=FFE", "set write to the UUID"), ("ble:x?write=FFE1&hear=", "set hear to the UUID"),
        ("ble:x?write=FFE1&profile=nus", "either profile, or write and hear"),
        ("ble:x?family=toaster", "pump, peer, storm, led, rescue"),
        ("ble:x?profile=hm11", "hm10, bt4502w, issc, nus, storm, led, rescue"),
    ])
    func `An invalid BLE option is refused with the valid ones`(text: String, hint: String) throws {
        let error = try #require(throws: LinkError.self) { try BLEEndpoint(Endpoint(text), among: .devices) }
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains(hint) == true)
    }

    @Test func `A family without profiles is refused as an option`() throws {
        let error = try #require(throws: LinkError.self) {
            try BLEEndpoint(Endpoint("ble:x?family=pump"), among: .carriers)
        }
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains("omit family") == true)
    }
}
