import DBus
import FakeBlueZ
import TestSupport
import Testing

@Suite("Applications of the fake bluetoothd", .timeLimit(.minutes(5)))
struct PeripheralTests {
    static let service = "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
    static let advertisement: [String: DBusValue] = [
        "Type": .string("peripheral"), "ServiceUUIDs": .strings([service]), "LocalName": .string("QDevice1"),
    ]
    /// The second adapter as a device of the first.
    private let path = "hci0/dev_00_00_5E_00_53_02"
    /// The application's characteristic, as the first adapter knows it.
    private var item: String { path + "/service0001/char0002" }

    /// Calls `body` with a bench, a second adapter, and an application that is not registered yet.
    private func withApplication(
        _ body: (FakeBench, FakeAdapter, FakeApplication) async throws -> Void
    ) async throws {
        try await withBench { bench in
            let second = await bench.fake.addAdapter("hci1", address: "00:00:5E:00:53:02")
            let application = try await FakeApplication(bench.bus)
            do {
                try await body(bench, second, application)
            } catch {
                await application.close()
                throw error
            }
            await application.close()
        }
    }

    /// Connects the first adapter to the second, and waits for its services.
    private func connect(_ bench: FakeBench) async throws {
        try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
        try await bench.client.hears("+ \(path) Device1")
        try await bench.client.call(path, "Device1", "Connect")
        try await bench.client.hears("\(path) ServicesResolved=true")
    }

    @Test func `A central finds, reads, writes and subscribes to an application`() async throws {
        try await withApplication { bench, _, application in
            try await application.register()
            try await application.advertise(Self.advertisement)
            try await connect(bench)
            let client = bench.client
            #expect(client.heard.state.properties["\(path) Name"] == .string("QDevice1"))
            // The central appears as a device of the second adapter.
            #expect(try await client.property("hci1/dev_00_00_5E_00_53_01", "Device1", "Connected") == .boolean(true))
            let value = try await client.call(item, "GattCharacteristic1", "ReadValue", [.noOptions])
            #expect(value == [.text("hello")])
            #expect(application.options.state["device"] == .objectPath("/org/bluez/hci1/dev_00_00_5E_00_53_01"))
            #expect(application.options.state["mtu"] == .uint16(517))
            #expect(application.options.state["link"] == .string("LE"))
            #expect(application.options.state["offset"] == nil)
            try await client.call(item, "GattCharacteristic1", "WriteValue", [.text("ON"), .noOptions])
            try await application.hears("write ON")
            #expect(application.options.state["type"] == .string("request"))
            try await client.call(item, "GattCharacteristic1", "WriteValue", [.text("OFF"), .writeType("command")])
            try await application.hears("write OFF")
            #expect(application.options.state["type"] == .string("command"))
            let refused = await client.failure(
                item, "GattCharacteristic1", "WriteValue", [.text("no"), .noOptions])
            #expect(refused == "NotPermitted: not that")
            try await client.call(item, "GattCharacteristic1", "StartNotify")
            try await application.hears("start")
            try await application.say("HELLO from here")
            // bluetoothd has also signalled the value that was read, `hello`.
            #expect(try await client.hears(text: "here") == "helloHELLO from here")
            try await client.call(item, "GattCharacteristic1", "StopNotify")
            try await application.hears("stop")
        }
    }

    @Test func `Notifying stops with the last subscriber and resumes when the central returns`() async throws {
        try await withApplication { bench, _, application in
            try await application.register()
            try await application.advertise(Self.advertisement)
            try await connect(bench)
            try await bench.client.call(item, "GattCharacteristic1", "StartNotify")
            try await application.hears("start")
            try await bench.client.call("hci1/dev_00_00_5E_00_53_01", "Device1", "Disconnect")
            try await bench.client.hears("\(path) Connected=false")
            try await application.hears("stop")
            try await bench.client.call(path, "Device1", "Connect")
            // bluetoothd restores the subscription of the client, which has not called StopNotify.
            try await application.hears("start")
        }
    }

    @Test func `A central's services are resolved while it is connected`() async throws {
        try await withApplication { bench, _, application in
            try await application.register()
            try await application.advertise(Self.advertisement)
            try await connect(bench)
            let central = "hci1/dev_00_00_5E_00_53_01"
            #expect(
                try await bench.client.property(central, "Device1", "ServicesResolved") == .boolean(true))
            try await bench.client.call(path, "Device1", "Disconnect")
            try await bench.client.hears("\(central) ServicesResolved=false")
            try await bench.client.hears("\(central) Connected=false")
        }
    }

    @Test func `A restored subscription is not reported to the application`() async throws {
        try await withApplication { bench, second, application in
            await Radio.run { second.ownRadio.manners.remembersSubscriptions = true }
            try await application.register()
            try await application.advertise(Self.advertisement)
            try await connect(bench)
            try await bench.client.call(item, "GattCharacteristic1", "StartNotify")
            try await application.hears("start")
            try await bench.client.call(path, "Device1", "Disconnect")
            try await bench.client.hears("\(path) Connected=false")
            try await bench.client.call(path, "Device1", "Connect")
            try await bench.client.hears("\(path) ServicesResolved=true")
            try await application.say("again")
            #expect(try await bench.client.hears(text: "again") == "again")
            #expect(application.log.state == [])
        }
    }

    @Test func `Notifications are cut to the MTU`() async throws {
        try await withApplication { bench, second, application in
            await Radio.run { second.ownRadio.manners.mtu = 23 }
            try await application.register()
            try await application.advertise(Self.advertisement)
            try await connect(bench)
            try await bench.client.call(item, "GattCharacteristic1", "StartNotify")
            try await application.say("0123456789012345678901234")
            #expect(try await bench.client.hears(text: "9") == "01234567890123456789")
        }
    }

    @Test func `An application is withdrawn with its D-Bus connection`() async throws {
        try await withApplication { bench, second, application in
            try await application.register()
            try await application.advertise(Self.advertisement)
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.client.hears("+ \(path) Device1")
            await application.close()
            try await bench.client.hears("\(path) -RSSI")
            #expect(await second.ownRadio.services.isEmpty)
        }
    }

    @Test func `An advertisement that does not fit is refused`() async throws {
        try await withApplication { _, second, application in
            /// Registers a changed advertisement and removes it again; returns the error, or nil.
            func refusal(_ changes: [String: DBusValue]) async -> String? {
                do {
                    try await application.advertise(Self.advertisement.merging(changes) { $1 })
                    try await application.call(
                        "hci1", "LEAdvertisingManager1", "UnregisterAdvertisement", FakeApplication.advertisement)
                    return nil
                } catch let error as DBusError {
                    return error.message
                } catch {
                    return "\(error)"
                }
            }
            let tooLong = "Failed to parse advertisement."
            #expect(await refusal([:]) == nil)
            #expect(await refusal(["ServiceUUIDs": .strings([Self.service, "1800"])]) == nil)
            // Flags take 3 bytes, the service 18, and 6 bytes of manufacturer data 4 more than these: 31.
            func data(_ count: Int) -> [String: DBusValue] {
                let bytes = DBusValue.bytes(Array(repeating: 1, count: count))
                let entry = DBusDictionary.Entry(.uint16(0xFFFF), .variant(bytes))
                return ["ManufacturerData": .dictionary(DBusDictionary(keys: "q", values: "v", [entry]))]
            }
            #expect(await refusal(data(6)) == nil)
            #expect(await refusal(data(7)) == tooLong)
            let two = [Self.service, "4fafc201-1fb5-459e-8fcc-c5c9c331914b"]
            #expect(await refusal(["ServiceUUIDs": .strings(two)]) == tooLong)
            #expect(await refusal(["LocalName": .string(String(repeating: "n", count: 29))]) == nil)
            #expect(await refusal(["LocalName": .string(String(repeating: "n", count: 30))]) == tooLong)
            #expect(await refusal(["Type": .string("loud")]) == tooLong)
            await Radio.run { second.advertisementLimit = 0 }
            #expect(await refusal([:]) == "Maximum advertisements reached")
            await Radio.run { second.advertisementLimit = 1 }
            await Radio.run { second.isPowered = false }
            #expect(await refusal([:]) == "Failed to register advertisement")
        }
    }
}
