import BlueZ
import DBus
import DescriptorIO
import FakeBlueZ
import TestSupport
import Testing

@Suite("Subscribers with a socket of their own", .timeLimit(.minutes(5)))
struct SubscriberTests {
    private static let device = PeripheralDescription(
        name: "Phone",
        services: [LocalService("FFF0", [LocalCharacteristic("FFF1", [.write, .notify], delivery: .toEach)])])

    /// The arguments are an MTU and the length of a notification: 3 bytes less than the MTU, but at most 512.
    @Test(arguments: [(100, 97), (517, 512)])
    func `A subscriber's address and MTU are known from its subscription on`(mtu: Int, length: Int) async throws {
        try await withPeripheralBench { bench in
            await bench.adapter.setMTU(mtu)
            let subscribers = Watched<[ATTRequest]>([])
            let handlers = PeripheralHandlers(
                subscribe: { uuid, request in
                    #expect(uuid == "FFF1")
                    subscribers.update { $0.append(request) }
                })
            let phone = try await bench.bluez.offer(Self.device, on: "hci1", handlers: handlers)
            _ = try await bench.central.find()
            try await bench.central.connect()
            #expect(await phone.knownNotificationLength == nil)
            try await bench.central.subscribe("FFF1")
            let request = try await subscribers.wait(for: "a subscriber") { $0.first }
            #expect(request.central == PeripheralBench.centralAddress && request.mtu == mtu)
            #expect(await phone.knownNotificationLength == length)
            await phone.close()
        }
    }

    @Test func `A flush succeeds only if the subscriber is still there`() async throws {
        try await withPeripheralBench { bench in
            let phone = try await bench.bluez.offer(Self.device, on: "hci1")
            _ = try await bench.central.find()
            try await bench.central.connect()
            #expect(await !phone.flush("FFF1"))
            try await bench.central.subscribe("FFF1")
            for number in UInt8(0)..<50 { try await phone.notify([number], on: "FFF1") }
            #expect(await phone.flush("FFF1"))
            #expect(try await bench.central.hears(50, of: "FFF1").count == 50)
            try await bench.central.disconnect()
            try await bench.central.isHungUpOn()
            #expect(await !phone.flush("FFF1"))
            await phone.close()
        }
    }
}
