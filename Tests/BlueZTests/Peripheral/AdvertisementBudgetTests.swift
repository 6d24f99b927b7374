import BlueZ
import Testing

@Suite("The advertisement budget")
struct AdvertisementBudgetTests {
    static let long: BluetoothUUID = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
    static let other: BluetoothUUID = "4fafc201-1fb5-459e-8fcc-c5c9c331914b"

    @Test func `Flags, services and the name in the scan response count by their length`() {
        let budget = AdvertisementBudget(name: "HMSoft", services: ["FFE0", Self.long, "180F"])
        #expect(budget.advertisement.map(\.length) == [3, 6, 18])
        #expect(budget.advertisement.map(\.name) == ["flags", "2 UUIDs of 16 bits", "1 UUID of 128 bits"])
        #expect(budget.scanResponse.map(\.length) == [8])
        #expect(budget.fits)
        #expect(AdvertisementBudget(name: nil, services: []).scanResponse.isEmpty)
    }

    @Test func `One 128-bit UUID and four 16-bit UUIDs fit, five do not`() throws {
        let short: [BluetoothUUID] = ["FFE0", "FFE1", "FFE2", "FFE3", "FFE4"]
        try AdvertisementBudget(name: nil, services: [Self.long] + short.prefix(4)).check(activity: "offering")
        #expect(!AdvertisementBudget(name: nil, services: [Self.long] + short).fits)
    }

    @Test func `If two 128-bit UUIDs do not fit, the error itemizes the bytes`() throws {
        let budget = AdvertisementBudget(name: "QDevice1", services: [Self.long, Self.other])
        let error = try #require(throws: BLEError.self) { try budget.check(activity: "offering QDevice1") }
        #expect(error.code == .invalidArgument)
        #expect(
            error.description
                == "offering QDevice1: invalid argument (the advertisement is 6 bytes longer than 31: flags 3, "
                + "2 UUIDs of 128 bits 34); advertise fewer services: a central finds the others once it is connected")
    }

    @Test func `A name counts in bytes, and at most 29 fit`() throws {
        func check(_ name: String) throws(BLEError) {
            try AdvertisementBudget(name: name, services: []).check(activity: "offering")
        }
        try check(String(repeating: "n", count: 29))
        let error = try #require(throws: BLEError.self) { try check(String(repeating: "ü", count: 15)) }
        #expect(error.message == "the name has 30 bytes; the limit is 29")
        #expect(error.hint?.contains("shorter") == true)
    }
}
