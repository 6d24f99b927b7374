import BlueZ
import DBus
import FakeBlueZ
import TestSupport
import Testing

@Suite("Adapters", .timeLimit(.minutes(5)))
struct AdapterTests {
    @Test func `An adapter is found by its number or its address`() async throws {
        try await withBench { bench in
            await bench.fake.addAdapter("hci1", address: "00:00:5E:00:53:02")
            try await bench.settle()
            #expect(await bench.bluez.adapters.map(\.name) == ["hci0", "hci1"])
            #expect(try await bench.bluez.adapter("hci1").address == BluetoothAddress("00:00:5E:00:53:02"))
            #expect(try await bench.bluez.adapter("00:00:5e:00:53:02").name == "hci1")
            let error = try await failure { () throws(BLEError) in try await bench.bluez.adapter("hci7") }
            #expect(error?.code == .noAdapter)
            #expect(error?.hint == "choose one of: hci0, hci1")
        }
    }

    @Test func `An adapter that is on is preferred to one that is off`() async throws {
        try await withBench { bench in
            await bench.fake.addAdapter("hci1", address: "00:00:5E:00:53:02")
            await switchOff(bench.adapter)
            try await bench.settle()
            #expect(try await bench.bluez.adapter().name == "hci1")
        }
    }

    @Test func `Opening without bluetoothd fails and names the command that starts it`() async throws {
        let bus = try await PrivateBus()
        let error = try await failure { () throws(BLEError) in try await BlueZ.open(.address(bus.address)) }
        #expect(error?.code == .notRunning)
        #expect(error?.description.contains("bluetoothd is not running") == true)
        #expect(error?.hint?.contains("systemctl start bluetooth") == true)
    }

    @Test func `Opening without a D-Bus system bus fails with noBus`() async throws {
        let error = try await failure { () throws(BLEError) in try await BlueZ.open(.address("unix:path=/proc/no")) }
        #expect(error?.code == .noBus && error?.reason.contains("/proc/no") == true)
    }
}

@Radio private func switchOff(_ adapter: FakeAdapter) { adapter.isPowered = false }
