import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport
import Testing

@Suite("A module with line and radio", .timeLimit(.minutes(5)))
struct ModuleServerTests {
    private static let address = "00:00:5E:00:53:02"

    /// Runs `body` with a central on hci0, which has found a module on hci1 but is not connected; with a channel to the
    /// module's UART; and with the bytes received over that channel.
    private func withModule(
        _ dialect: String, _ body: (TestCentral, DescriptorChannel, Watched<ReceivedText>) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        let fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
        await fake.addAdapter()
        let adapter = await fake.addAdapter("hci1", address: Self.address)
        await Radio.run { adapter.ownRadio.manners.mtu = 23 }
        let bluez = try await BlueZ.open(.address(bus.address))
        let module = try #require(SimulatedModule(dialect: dialect, lineRate: .unlimited, notifiesUART: true))
        let host = DeviceHost(module, pace: .onDemand)
        let (line, near) = try DescriptorChannel.pair(on: .shared)
        await host.attach(near)
        let server = try await PeripheralServer.open(host, over: bluez, on: "hci1")
        let central = try await TestCentral(on: bus.address, for: Self.address)
        let result: Result<Void, any Error>
        do {
            _ = try await central.find()
            result = .success(try await body(central, line, line.receivedText()))
        } catch {
            result = .failure(error)
        }
        await central.close()
        await server.close()
        await line.close()
        await bluez.close()
        await fake.stop()
        try result.get()
    }

    @Test(
        "A module passes data both ways and reports connects and disconnects",
        arguments: [("hm-10", ""), ("cc41-a", "\r\n")])
    func visit(dialect: String, end: String) async throws {
        try await withModule(dialect) { central, line, heard in
            try await line.write(Array("AT\(end)".utf8))
            #expect(try await heard.text(upTo: "OK\(end)") == "OK\(end)")
            try await central.connect()
            #expect(try await heard.text(upTo: "CONN\(end)") == "OK+CONN\(end)")
            try await central.subscribe("FFE1")
            try await central.write(Array("STATUS\n".utf8), to: "FFE1", type: "command")
            #expect(try await heard.text(upTo: "\n") == "STATUS\n")
            let text = "STATUS:{State:OFF,WaterTemp:12.0C}\r\n"
            try await line.write(Array(text.utf8))
            let packets = try await central.hears(text.utf8.count, of: "FFE1")
            #expect(packets.map(\.count) == [20, text.utf8.count - 20])
            #expect(packets.flatMap { $0 } == Array(text.utf8))
            try await central.disconnect()
            #expect(try await heard.text(upTo: "LOST\(end)") == "OK+LOST\(end)")
        }
    }

    @Test("A bare AT on the line disconnects the central, which can reconnect")
    func hangUp() async throws {
        try await withModule("hm-10") { central, line, heard in
            try await central.connect()
            try await central.write(Array("hello".utf8), to: "FFE1", type: "command")
            #expect(try await heard.text(upTo: "hello") == "OK+CONNhello")
            try await line.write(Array("AT".utf8))
            try await central.isHungUpOn()
            #expect(try await heard.text(upTo: "LOST") == "OK+LOST")
            try await line.write(Array("AT+NAME?".utf8))
            #expect(try await heard.text(upTo: "HMSoft") == "OK+NAME:HMSoft")
            try await central.connect()
            #expect(try await heard.text(upTo: "CONN") == "OK+CONN")
        }
    }

    @Test("Notifications use the characteristic FFE1")
    func characteristic() {
        let emission = Emission(bytes: [1], time: .zero, output: SimulatedModule.notificationOutput)
        #expect(emission.characteristic == "FFE1")
    }
}
