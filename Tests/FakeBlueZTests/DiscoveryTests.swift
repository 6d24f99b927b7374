import DBus
import DeviceTestKit
import FakeBlueZ
import TestSupport
import Testing

@Suite("Discovery of the fake bluetoothd", .timeLimit(.minutes(5)))
struct DiscoveryTests {
    private let lampPath = "hci0/dev_C0_FF_EE_00_00_01"

    private func lamp() async -> RadioDevice {
        await RadioDevice(
            "C0:FF:EE:00:00:01",
            Advertisement(name: "Lamp", services: ["FFF0"], manufacturerData: [0xFFFF: [1, 2]]), addressType: "random")
    }

    private func filter(_ properties: [String: DBusValue]) -> [DBusValue] { [.properties(properties)] }

    @Test func `Filters are merged, so a client sees what another one looks for`() async throws {
        try await withBench { bench in
            let other = try await FakeClient(bench.bus)
            let services = DBusValue.strings(["ffe0"])
            try await bench.client.call("hci0", "Adapter1", "SetDiscoveryFilter", filter(["UUIDs": services]))
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            await bench.fake.add(await lamp())
            _ = try await bench.addPump()
            try await bench.client.hears("+ \(pumpPath) Device1")
            #expect(try await bench.client.objects().contains(lampPath) == false)
            try await other.call("hci0", "Adapter1", "SetDiscoveryFilter", filter(["Pattern": .string("La")]))
            try await other.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.client.hears("+ \(lampPath) Device1")
            await other.close()
        }
    }

    @Test func `A signal filter hides weak devices, and an unknown transport is refused`() async throws {
        try await withBench { bench in
            try await bench.client.call("hci0", "Adapter1", "SetDiscoveryFilter", filter(["RSSI": .int16(-50)]))
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            let lamp = await lamp()
            await bench.fake.add(lamp)
            #expect(try await bench.client.objects().contains(lampPath) == false)
            await Radio.run { lamp.signalStrength = -49 }
            try await bench.client.hears("+ \(lampPath) Device1")
            // A client that filters by signal strength gets every change.
            await Radio.run { lamp.signalStrength = -48 }
            try await bench.client.hears("\(lampPath) RSSI=-48")
            let wrong = await bench.client.failure(
                "hci0", "Adapter1", "SetDiscoveryFilter", filter(["Transport": .string("smoke")]))
            #expect(wrong == "InvalidArguments: Invalid arguments in method call")
        }
    }

    @Test func `Each client has one discovery, which ends with the client`() async throws {
        try await withBench { bench in
            let other = try await FakeClient(bench.bus)
            #expect(await other.failure("hci0", "Adapter1", "StopDiscovery") == "Failed: No discovery started")
            try await other.call("hci0", "Adapter1", "StartDiscovery")
            #expect(await other.failure("hci0", "Adapter1", "StartDiscovery") == "InProgress: In Progress")
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.client.call("hci0", "Adapter1", "StopDiscovery")
            #expect(try await bench.client.linesSoFar() == ["hci0 Discovering=true"])
            await other.close()
            try await bench.client.hears("hci0 Discovering=false")
        }
    }

    @Test func `If two clients start at the same time, only the last is answered`() async throws {
        try await withBench { bench in
            await slowDown(bench.adapter, by: .seconds(1))
            let other = try await FakeClient(bench.bus)
            let first = Task { await bench.client.failure("hci0", "Adapter1", "StartDiscovery") }
            try await bench.untilCalled("StartDiscovery")
            async let second: Void = { _ = try await other.call("hci0", "Adapter1", "StartDiscovery") }()
            try await bench.untilCalled("StartDiscovery", times: 2)
            await bench.clock.untilSomebodySleeps(until: .seconds(1))
            bench.clock.advance(by: .seconds(1))
            try await second
            try await bench.client.hears("hci0 Discovering=true")
            #expect(await bench.client.failure("hci0", "Adapter1", "StopDiscovery") == "InProgress: In Progress")
            await setPower(of: bench.adapter, false)
            #expect(await first.value == "NotReady: Resource Not Ready")
            await other.close()
        }
    }

    @Test func `A device is removed 30 s after it was last heard, unless it is connected`() async throws {
        try await withBench { bench in
            _ = try await bench.addPump()
            let lamp = await lamp()
            await bench.fake.add(lamp)
            try await bench.findPump()
            try await bench.client.call(pumpPath, "Device1", "Connect")
            try await bench.client.call("hci0", "Adapter1", "StopDiscovery")
            try await bench.client.hears("\(lampPath) -RSSI")
            await bench.clock.untilSomebodySleeps(until: .seconds(30))
            bench.clock.advance(by: .seconds(29))
            #expect(try await bench.client.objects().contains(lampPath))
            bench.clock.advance(by: .seconds(1))
            try await bench.client.hears("- \(lampPath)")
            #expect(try await bench.client.objects().contains(pumpPath))
            let error = await bench.client.failure(lampPath, "Device1", "Connect")
            #expect(error.hasPrefix("UnknownObject"))
            try await bench.client.call(pumpPath, "Device1", "Disconnect")
            await bench.clock.untilSomebodySleeps(until: .seconds(60))
            bench.clock.advance(by: .seconds(30))
            try await bench.client.hears("- \(pumpPath)")
        }
    }

    @Test func `A device in range stays known, and one out of range is removed`() async throws {
        try await withBench { bench in
            let lamp = await lamp()
            await bench.fake.add(lamp)
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.client.hears("+ \(lampPath) Device1")
            bench.clock.advance(by: .seconds(100))
            #expect(try await bench.client.objects().contains(lampPath))
            await bench.fake.remove(lamp)
            await bench.clock.untilSomebodySleeps(until: .seconds(130))
            bench.clock.advance(by: .seconds(30))
            try await bench.client.hears("- \(lampPath)")
            await bench.fake.add(lamp)
            try await bench.client.hears("+ \(lampPath) Device1")
        }
    }

    @Test func `Small signal changes and duplicate data are reported only on request`() async throws {
        try await withBench { bench in
            let lamp = await lamp()
            await bench.fake.add(lamp)
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.client.hears("+ \(lampPath) Device1")
            await Radio.run {
                lamp.signalStrength = -67
                lamp.advertise()
            }
            #expect(try await bench.client.linesSoFar() == [])
            // bluetoothd signals changes of at least 8 dB.
            await Radio.run { lamp.signalStrength = -68 }
            #expect(try await bench.client.linesSoFar() == ["\(lampPath) RSSI=-68"])
            try await bench.client.call(
                "hci0", "Adapter1", "SetDiscoveryFilter", filter(["DuplicateData": .boolean(true)]))
            _ = try await bench.client.linesSoFar()
            await Radio.run { lamp.advertise() }
            #expect(try await bench.client.linesSoFar() == ["\(lampPath) ManufacturerData=…"])
        }
    }
}

@Radio private func slowDown(_ adapter: FakeAdapter, by delay: Duration) { adapter.discoveryDelay = delay }
@Radio private func setPower(of adapter: FakeAdapter, _ isOn: Bool) { adapter.isPowered = isOn }
