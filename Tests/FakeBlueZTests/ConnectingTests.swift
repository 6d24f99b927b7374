import DBus
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import TestSupport
import Testing

/// The path of the pump's object below `/org/bluez/`.
let pumpPath = "hci0/dev_00_15_83_00_00_10"
/// The path of the pump's characteristic FFE1, by its ATT handles.
let linePath = pumpPath + "/service0001/char0002"

@Suite("Connections of the fake bluetoothd", .timeLimit(.minutes(5)))
struct ConnectingTests {
    @Test func `A pump behind an HM-10 is found, connected and answers`() async throws {
        try await withBench { bench in
            _ = try await bench.addPump()
            let client = bench.client
            try await client.call("hci0", "Adapter1", "StartDiscovery")
            try await client.hears("hci0 Discovering=true")
            try await client.hears("+ \(pumpPath) Device1")
            #expect(client.heard.state.properties["\(pumpPath) Name"] == .string("HMSoft"))
            #expect(client.heard.state.properties["\(pumpPath) RSSI"] == .int16(-60))
            try await client.call(pumpPath, "Device1", "Connect")
            try await client.hears("\(pumpPath) Connected=true")
            try await client.hears("+ \(pumpPath)/service0001 GattService1")
            try await client.hears("+ \(linePath) GattCharacteristic1")
            try await client.hears("\(pumpPath) ServicesResolved=true")
            #expect(client.heard.state.properties["\(linePath) MTU"] == .uint16(23))
            try await client.call(linePath, "GattCharacteristic1", "StartNotify")
            try await client.call(linePath, "GattCharacteristic1", "WriteValue", [.text("STATUS\n"), .noOptions])
            let answer = try await client.hears(text: "\r\n")
            #expect(answer.hasPrefix("STATUS:{State:OFF"))
            try await client.call(pumpPath, "Device1", "Disconnect")
            try await client.hears("\(pumpPath) Connected=false")
        }
    }

    /// Calls `body` with a discovered pump whose link behaves as set by `change`.
    private func withPump(
        _ change: @escaping @Radio (inout LinkManners) -> Void,
        _ body: (FakeBench, HM10<PumpFirmware>) async throws -> Void
    ) async throws {
        try await withBench { bench in
            let pump = try await bench.addPump()
            await Radio.run { change(&pump.radio.manners) }
            try await bench.findPump()
            try await body(bench, pump)
        }
    }

    /// Connects to the pump; returns the error, or "done".
    private func connect(_ bench: FakeBench) async -> String {
        await bench.client.failure(pumpPath, "Device1", "Connect")
    }

    @Test func `Connection attempts fail with the configured errors, then succeed`() async throws {
        let errors = [BlueZError.abortedByLocal, BlueZError.connectionCanceled, BlueZError.authenticationFailed]
        try await withPump {
            $0.connectErrors = errors
        } _: { bench, _ in
            #expect(await connect(bench) == "Failed: le-connection-abort-by-local")
            #expect(await connect(bench) == "Failed: br-connection-canceled")
            #expect(await connect(bench) == "AuthenticationFailed: Authentication Failed")
            #expect(await connect(bench) == "done")
            #expect(await connect(bench) == "done")
        }
    }

    @Test func `A second attempt gets InProgress, and Disconnect ends the first`() async throws {
        try await withPump {
            $0.connectDelay = .seconds(5)
        } _: { bench, pump in
            async let first = connect(bench)
            await bench.clock.untilSomebodySleeps(until: .seconds(5))
            #expect(await connect(bench) == "InProgress: In Progress")
            try await bench.client.call(pumpPath, "Device1", "Disconnect")
            #expect(await first == "Failed: le-connection-abort-by-local")
            #expect(await pump.radio.links.isEmpty)
            let twice = await bench.client.failure(pumpPath, "Device1", "Disconnect")
            #expect(twice == "NotConnected: Not Connected")
        }
    }

    @Test func `Connecting to a device out of range fails after 20 s`() async throws {
        try await withPump { _ in
        } _: { bench, pump in
            await bench.fake.remove(pump.radio)
            async let first = connect(bench)
            await bench.clock.untilSomebodySleeps(until: .seconds(20))
            bench.clock.advance(by: .seconds(20))
            #expect(await first == "Failed: le-connection-abort-by-local")
        }
    }

    @Test func `A device that comes into range during the attempt is connected`() async throws {
        try await withPump { _ in
        } _: { bench, pump in
            await bench.fake.remove(pump.radio)
            async let first = connect(bench)
            await bench.clock.untilSomebodySleeps(until: .seconds(20))
            await bench.fake.add(pump.radio)
            #expect(await first == "done")
        }
    }

    @Test func `A device is connected first, then exports its services, then reports them resolved`() async throws {
        try await withPump {
            $0.resolveDelay = .seconds(2)
        } _: { bench, _ in
            #expect(await connect(bench) == "done")
            try await bench.client.hears("\(pumpPath) Connected=true")
            #expect(try await bench.client.property(pumpPath, "Device1", "ServicesResolved") == .boolean(false))
            #expect(try await bench.client.objects().contains(linePath) == false)
            await bench.clock.untilSomebodySleeps(until: .seconds(2))
            bench.clock.advance(by: .seconds(2))
            try await bench.client.hears("+ \(linePath) GattCharacteristic1")
            try await bench.client.hears("\(pumpPath) ServicesResolved=true")
        }
    }

    @Test func `A link that ends early leaves the services unresolved`() async throws {
        try await withPump {
            $0.resolveDelay = .seconds(2)
        } _: { bench, pump in
            #expect(await connect(bench) == "done")
            await bench.clock.untilSomebodySleeps(until: .seconds(2))
            await pump.radio.dropLinks()
            try await bench.client.hears("\(pumpPath) Connected=false")
            bench.clock.advance(by: .seconds(2))
            #expect(try await bench.client.objects().contains(linePath) == false)
        }
    }

    @Test func `The services stay exported after the link has ended`() async throws {
        try await withConnectedPump { bench, pump in
            await pump.radio.dropLinks()
            try await bench.client.hears("\(pumpPath) ServicesResolved=false")
            try await bench.client.hears("\(pumpPath) Connected=false")
            #expect(try await bench.client.objects().contains(linePath))
            _ = try await bench.client.linesSoFar()
            #expect(await connect(bench) == "done")
            try await bench.client.hears("\(pumpPath) ServicesResolved=true")
        }
    }

    @Test func `Disconnect is answered before Connected changes`() async throws {
        try await withConnectedPump { bench, _ in
            _ = try await bench.client.linesSoFar()
            let order = Log([])
            let signals = try await bench.client.connection.handleSignals(
                matching: .propertiesChanged(sender: "org.bluez", of: "org.bluez.Device1")
            ) { _ in order.update { $0.append("told") } }
            let path = try #require(ObjectPath("/org/bluez/\(pumpPath)"))
            try await bench.client.connection.call(
                DBusCall(to: "org.bluez", path, "org.bluez.Device1", "Disconnect")
            ) { _ in order.update { $0.append("answered") } }
            try await bench.client.hears("\(pumpPath) Connected=false")
            #expect(order.state.first == "answered")
            signals.cancel()
        }
    }

    @Test func `A pending Disconnect outlives its client, and Connect meanwhile returns the old link`()
        async throws
    {
        try await withConnectedPump { bench, pump in
            await Radio.run { pump.radio.manners.disconnectDelay = .seconds(2) }
            let other = try await FakeClient(bench.bus)
            async let refused = other.failure(pumpPath, "Device1", "Disconnect")
            await bench.clock.untilSomebodySleeps(until: .seconds(2))
            await other.close()
            _ = await refused
            #expect(await connect(bench) == "done")
            #expect(await pump.radio.links.count == 1)
            bench.clock.advance(by: .seconds(2))
            try await bench.client.hears("\(pumpPath) Connected=false")
            #expect(await connect(bench) == "done")
            try await bench.client.hears("\(pumpPath) Connected=true")
        }
    }

    @Test func `A device may be connected already, left by a crashed client`() async throws {
        try await withBench { bench in
            let pump = try await HM10(PumpFirmware(), pace: .onDemand)
            await Radio.run {
                pump.radio.manners.isConnectedAlready = true
                bench.fake.add(pump.radio)
            }
            try await bench.client.hears("+ \(pumpPath) Device1")
            try await bench.client.hears("\(pumpPath) ServicesResolved=true")
            #expect(await connect(bench) == "done")
        }
    }

    @Test func `A connection outlives the client that made it`() async throws {
        try await withPump { _ in
        } _: { bench, pump in
            let other = try await FakeClient(bench.bus)
            try await other.call(pumpPath, "Device1", "Connect")
            await other.close()
            try await bench.client.hears("\(pumpPath) ServicesResolved=true")
            try await bench.client.settle()
            #expect(await pump.radio.links.count == 1)
        }
    }
}

/// Events in order.
typealias Log = Watched<[String]>
