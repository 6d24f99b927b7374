import BlueZ
import Testing

@Suite struct BluetoothUUIDTests {
    @Test(arguments: [
        ("FFE0", "0000ffe0-0000-1000-8000-00805f9b34fb"), ("0000FFE1", "0000ffe1-0000-1000-8000-00805f9b34fb"),
        ("12345678", "12345678-0000-1000-8000-00805f9b34fb"),
        ("6E400001-B5A3-F393-E0A9-E50E24DCCA9E", "6e400001-b5a3-f393-e0a9-e50e24dcca9e"),
    ])
    func `A short UUID equals its 128-bit form, in any case`(short: String, full: String) throws {
        let uuid = try #require(BluetoothUUID(short))
        #expect(uuid.text == full)
        #expect(uuid == BluetoothUUID(full))
        #expect(uuid == BluetoothUUID(full.uppercased()))
    }

    @Test(arguments: ["FFE0", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", "ffffffff-ffff-ffff-ffff-fffffffffffe"])
    func `A UUID converts to 128 bits and back`(text: String) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid.bits == UInt128(uuid.text.filter { $0 != "-" }, radix: 16))
        #expect(BluetoothUUID(bits: uuid.bits) == uuid)
    }

    @Test(arguments: [
        "", "FFE", "FFEG", "FFE00", "0000ffe0-0000-1000-8000-00805f9b34f", "0000ffe0_0000-1000-8000-00805f9b34fb",
        "-000ffe0-0000-1000-8000-00805f9b34fb", "0000ffe000001000800000805f9b34fb", "ＦＦＥ０",
    ])
    func `An invalid UUID is refused`(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test(arguments: [
        ("FFE0", "FFE0", 2), ("0000180f-0000-1000-8000-00805f9b34fb", "180F", 2),
        ("12345678", "12345678-0000-1000-8000-00805f9b34fb", 4),
        ("937312E0-2354-11EB-9F10-FBC30A62CF38", "937312e0-2354-11eb-9f10-fbc30a62cf38", 16),
    ])
    func `A UUID is printed and advertised in its shortest form`(text: String, shown: String, length: Int) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect("\(uuid)" == shown)
        #expect(uuid.advertisedLength == length)
    }
}

@Suite struct BluetoothAddressTests {
    @Test func `An address is parsed in any case and printed in upper case`() throws {
        let address = try #require(BluetoothAddress("aa:bb:0C:dd:ee:0f"))
        #expect("\(address)" == "AA:BB:0C:DD:EE:0F")
        #expect(address == BluetoothAddress("AA:BB:0C:DD:EE:0F"))
    }

    @Test(arguments: ["", "HMSoft", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:FF:", "AA-BB-CC-DD-EE-FF", "GA:BB:CC:DD:EE:FF"])
    func `An invalid address is refused`(text: String) {
        #expect(BluetoothAddress(text) == nil)
    }
}
