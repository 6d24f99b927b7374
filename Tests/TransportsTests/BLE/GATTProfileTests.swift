import BlueZ
import LineProtocol
import Testing

@testable import Transports

@Suite struct GATTProfileTests {
    @Test func `Carriers are of no family until somebody says so`() {
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

    @Test func `A profile of the same name replaces the one before, and keeps its families and its place`() throws {
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
    @Test func `A device is named by its address, its name, or what it offers`() throws {
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
        ("ble:a%3fb?adapter=hci1", "a?b"), ("ble:%+1", "%+1"), ("ble:%E2%82%AC", "€"),
    ])
    func `A name may hold what an endpoint means something by`(text: String, name: String) throws {
        #expect(try BLEEndpoint(Endpoint(text), among: .devices).target == .name(name))
        let written = try Endpoint("ble:\(name.asEndpointName)")
        #expect(try BLEEndpoint(written, among: .devices).target == .name(name))
    }

    @Test(arguments: [
        ("ble:x?colour=red", "adapter, family, hear, pair, profile"),
        ("ble:x?write=FFE", "write is the UUID"), ("ble:x?write=FFE1&hear=", "hear is the UUID"),
        ("ble:x?write=FFE1&profile=nus", "either profile, or write and hear"),
        ("ble:x?family=toaster", "pump, peer, storm, led, rescue"),
        ("ble:x?profile=hm11", "hm10, bt4502w, issc, nus, storm, led, rescue"),
    ])
    func `What is no option says what there is`(text: String, hint: String) throws {
        let error = try #require(throws: LinkError.self) { try BLEEndpoint(Endpoint(text), among: .devices) }
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains(hint) == true)
    }

    @Test func `Where no family has a profile none can be asked for`() throws {
        let error = try #require(throws: LinkError.self) {
            try BLEEndpoint(Endpoint("ble:x?family=pump"), among: .carriers)
        }
        #expect(error.code == .invalidEndpoint)
        #expect(error.hint?.contains("omit family") == true)
    }
}
