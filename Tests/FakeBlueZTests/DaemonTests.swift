import DBus
import FakeBlueZ
import FirmwareSim
import TestSupport
import Testing

@Suite("The fake daemon and its adapters", .timeLimit(.minutes(5)))
struct DaemonTests {
    /// Waits for the next change of the owner of a name; returns whether the name then has an owner, or nil if the
    /// signals have ended.
    private static func isOwned(_ changes: DBusSignals) async throws -> Bool? {
        var changes = changes.makeAsyncIterator()
        return try await changes.next()?.arguments.last?.string.map { !$0.isEmpty }
    }

    @Test func `A restarted daemon has forgotten its devices`() async throws {
        try await withConnectedPump { bench, pump in
            let signals = try await bench.client.connection.signals(matching: .nameOwnerChanged("org.bluez"))
            try await bench.client.call(linePath, "GattCharacteristic1", "StartNotify")
            try await bench.fake.restart {
                #expect(pump.radio.links.isEmpty)
                let isOwned = try await Self.isOwned(signals)
                #expect(isOwned == false)
                let error = await bench.client.failure("hci0", "Adapter1", "StartDiscovery")
                #expect(error.hasPrefix("ServiceUnknown"))
            }
            #expect(try await Self.isOwned(signals) == true)
            try await bench.client.hears("+ hci0 Adapter1")
            let error = await bench.client.failure(pumpPath, "Device1", "Connect")
            #expect(error.hasPrefix("UnknownObject"))
            #expect(try await bench.client.property("hci0", "Adapter1", "Discovering") == .boolean(false))
            try await bench.findPump()
            try await bench.client.call(pumpPath, "Device1", "Connect")
        }
    }

    @Test func `A replugged adapter has a new number and the same address`() async throws {
        try await withConnectedPump { bench, pump in
            await bench.fake.renumber(bench.adapter, to: "hci2")
            try await bench.client.hears("- hci0")
            try await bench.client.hears("+ hci2 Adapter1")
            let address = try await bench.client.property("hci2", "Adapter1", "Address")
            #expect(address == .string("00:00:5E:00:53:01"))
            #expect(await pump.radio.links.isEmpty)
            let error = await bench.client.failure(pumpPath, "Device1", "Connect")
            #expect(error.hasPrefix("UnknownObject"))
            try await bench.client.call("hci2", "Adapter1", "StartDiscovery")
            try await bench.client.hears("+ hci2/dev_00_15_83_00_00_10 Device1")
        }
    }

    @Test func `An adapter that is off drops its links and answers NotReady`() async throws {
        try await withConnectedPump { bench, pump in
            let off: [DBusValue] = [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(false))]
            let connection = bench.client.connection
            try await connection.call(
                DBusCall(to: "org.bluez", FakeClient.hci0, "org.freedesktop.DBus.Properties", "Set", off))
            try await bench.client.hears("hci0 Powered=false")
            try await bench.client.hears("\(pumpPath) Connected=false")
            try await bench.client.hears("hci0 Discovering=false")
            #expect(await pump.radio.links.isEmpty)
            let start = await bench.client.failure("hci0", "Adapter1", "StartDiscovery")
            #expect(start == "NotReady: Resource Not Ready")
            let connect = await bench.client.failure(pumpPath, "Device1", "Connect")
            #expect(connect == "NotReady: Resource Not Ready")
            await Radio.run { bench.adapter.isPowered = true }
            try await bench.client.hears("hci0 Powered=true")
            try await bench.client.call(pumpPath, "Device1", "Connect")
        }
    }

    @Test func `An adapter blocked by rfkill cannot be switched on`() async throws {
        try await withBench { bench in
            await Radio.run { bench.adapter.isBlocked = true }
            try await bench.client.hears("hci0 Powered=false")
            let error = await #expect(throws: DBusError.self) {
                try await bench.client.connection.setProperty(
                    "Powered", of: "org.bluez.Adapter1", at: FakeClient.hci0, of: "org.bluez", to: .boolean(true))
            }
            #expect(error?.name == "org.bluez.Error.Blocked")
            #expect(error?.message == "Blocked through rfkill")
        }
    }

    @Test func `An adapter's managers may appear after the adapter`() async throws {
        try await withBench { bench in
            let late = await bench.fake.addAdapter(
                "hci1", address: "00:00:5E:00:53:02", bringsManagersLater: true)
            #expect(try await bench.client.linesSoFar() == ["+ hci1 Adapter1"])
            await late.bringManagers()
            #expect(
                try await bench.client.linesSoFar().sorted()
                    == ["+ hci1 GattManager1", "+ hci1 LEAdvertisingManager1"])
            let application = try await FakeApplication(bench.bus)
            try await application.register(on: "hci1")
            await application.close()
        }
    }

    @Test func `Calls are recorded with their client`() async throws {
        try await withBench { bench in
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.untilCalled("StartDiscovery")
            #expect(await bench.fake.calls.state.first?.client == bench.client.connection.uniqueName)
        }
    }
}
