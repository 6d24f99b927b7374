import DBus
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import Glibc
import TestSupport
import Testing

@Suite("Notifications of the fake bluetoothd", .timeLimit(.minutes(5)))
struct NotifyingTests {
    private let line = "GattCharacteristic1"

    @Test func `5,000 notifications arrive whole and in order`() async throws {
        try await withConnectedPump { bench, pump in
            try await bench.client.call(linePath, line, "StartNotify")
            let count = 5000
            try await bench.burst(count, from: pump)
            let values = try await bench.client.heard.wait(for: "\(count) values") { heard in
                heard.values.count >= count ? heard.values : nil
            }
            #expect(values == (0..<count).map(FakeBench.packet))
        }
    }

    @Test func `A notification can arrive before StartNotify is answered`() async throws {
        try await withConnectedPump { bench, pump in
            await Radio.run { pump.radio.manners.subscribeDelay = .milliseconds(30) }
            async let subscribed: [DBusValue] = bench.client.call(linePath, line, "StartNotify")
            await bench.clock.untilSomebodySleeps(until: .milliseconds(30))
            await pump.say("early")
            #expect(try await bench.client.hears(text: "early") == "early")
            let again = await bench.client.failure(linePath, line, "StartNotify")
            #expect(again == "InProgress: In Progress")
            bench.clock.advance(by: .milliseconds(30))
            _ = try await subscribed
        }
    }

    @Test func `Notifications reach all clients while at least one is subscribed`() async throws {
        try await withConnectedPump { bench, pump in
            let other = try await FakeClient(bench.bus)
            await pump.say("nobody listens")
            try await bench.client.call(linePath, line, "StartNotify")
            try await other.call(linePath, line, "StartNotify")
            try await bench.client.call(linePath, line, "StartNotify")
            try await bench.client.call(linePath, line, "StopNotify")
            await pump.say("one")
            #expect(try await bench.client.hears(text: "one") == "one")
            #expect(await bench.client.failure(linePath, line, "StopNotify") == "Failed: No notify session started")
            _ = try await bench.client.linesSoFar()
            await other.close()
            try await bench.client.hears("\(linePath) Notifying=false")
            await pump.say("two")
            #expect(try await bench.client.linesSoFar() == [])
        }
    }

    @Test func `Every client gets each notification once per subscribed client`() async throws {
        try await withConnectedPump { bench, pump in
            let other = try await FakeClient(bench.bus)
            try await bench.client.call(linePath, line, "StartNotify")
            try await other.call(linePath, line, "StartNotify")
            _ = try await bench.client.linesSoFar()
            await pump.say("twice")
            #expect(try await bench.client.linesSoFar() == ["\(linePath) Value=twice", "\(linePath) Value=twice"])
            #expect(other.heard.state.values.count == 2)
            try await other.call(linePath, line, "StopNotify")
            await pump.say("once")
            #expect(try await bench.client.linesSoFar() == ["\(linePath) Value=once"])
            await other.close()
        }
    }

    @Test func `A subscription is restored after a reconnect`() async throws {
        try await withConnectedPump { bench, pump in
            try await bench.client.call(linePath, line, "StartNotify")
            await pump.radio.dropLinks()
            try await bench.client.hears("\(pumpPath) Connected=false")
            try await bench.client.call(pumpPath, "Device1", "Connect")
            try await bench.client.hears("\(pumpPath) ServicesResolved=true")
            await pump.say("again")
            #expect(try await bench.client.hears(text: "again") == "again")
        }
    }

    @Test func `Acquired notifications go only to the socket, and early ones are lost`() async throws {
        try await withConnectedPump { bench, pump in
            await Radio.run { pump.radio.manners.subscribeDelay = .milliseconds(30) }
            async let acquired = bench.client.call(linePath, line, "AcquireNotify", [.noOptions])
            await bench.clock.untilSomebodySleeps(until: .milliseconds(30))
            await pump.say("early")
            bench.clock.advance(by: .milliseconds(30))
            let reply = try await acquired
            #expect(reply.last == .uint16(23))
            let socket = try #require(reply.first?.unixFD)
            await pump.say("later")
            #expect(socket.nextPacket() == Array("later".utf8))
            #expect(await bench.client.failure(linePath, line, "StartNotify") == "NotPermitted: Notify acquired")
            let again = await bench.client.failure(linePath, line, "AcquireNotify", [.noOptions])
            #expect(again == "NotPermitted: Notify acquired")
            #expect(bench.client.heard.state.values == [])
            await pump.radio.dropLinks()
            #expect(socket.isHungUp)
        }
    }

    @Test func `AcquireNotify is refused while a client is subscribed`() async throws {
        try await withConnectedPump { bench, _ in
            try await bench.client.call(linePath, line, "StartNotify")
            let refused = await bench.client.failure(linePath, line, "AcquireNotify", [.noOptions])
            #expect(refused == "InProgress: In Progress")
        }
    }
}

extension HM10 {
    func say(_ text: String) { radio.characteristic("FFE1")?.notify(Array(text.utf8)) }
}

/// Calls `body` with a bench and a pump that the bench's client has found and connected.
func withConnectedPump(
    _ body: (FakeBench, HM10<PumpFirmware>) async throws -> Void
) async throws {
    try await withBench { bench in
        let pump = try await bench.addPump()
        try await bench.findPump()
        try await bench.client.call(pumpPath, "Device1", "Connect")
        try await bench.client.hears("\(pumpPath) ServicesResolved=true")
        try await body(bench, pump)
    }
}

extension FakeBench {
    /// Starts a discovery, and waits for the pump. The discovery goes on.
    func findPump() async throws {
        try await client.call("hci0", "Adapter1", "StartDiscovery")
        try await client.hears("+ \(pumpPath) Device1")
    }

    /// 20 bytes that differ from packet to packet.
    static func packet(_ number: Int) -> [UInt8] {
        (0..<20).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
    }

    @Radio
    func burst(_ count: Int, from pump: HM10<PumpFirmware>) async throws {
        guard let line = pump.radio.characteristic("FFE1") else { return }
        try await fake.burst(count, from: line, Self.packet)
    }
}
