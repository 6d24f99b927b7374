import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import TestSupport
import Testing

@Suite("Packet lengths of a central", .timeLimit(.minutes(5)))
struct NotificationLengthTests {
    private static let address = "00:00:5E:00:53:02"

    @Test("A phone's message is one notification if it fits, otherwise several")
    func messages() async throws {
        for (mtu, count) in [(517, 1), (100, 3), (23, 11)] {
            let phone = RescuePeripheral(RescueFirmwareOptions(seed: 7, messages: 1, interval: .zero))
            try await withCentral(of: phone, mtu: mtu) { central, host in
                try await central.subscribe("FFF1")
                await host.advance(by: .seconds(1))
                let json = PhoneStock(seed: 7).message(0).json
                let pieces = try await central.hears(json.count, of: "FFF1")
                #expect(Array(pieces.joined()) == json)
                #expect(pieces.count == count, "\(pieces.map(\.count))")
            }
        }
    }

    @Test(
        "A long image waits for the radio and arrives whole", arguments: [(23, 10_000), (517, 50_000)])
    func image(mtu: Int, size: Int) async throws {
        let peer = PeerPeripheral(PeerFirmwareOptions(seed: 7, imageByteCount: size))
        try await withCentral(of: peer, mtu: mtu) { central, host in
            let transmit = PeerPeripheral.transmit.text
            try await central.subscribe(transmit)
            try await central.write(Array("GET".utf8), to: PeerPeripheral.receive.text, type: "command")
            let text = try await central.hears("IMG_END", of: transmit)
            // The greeting comes before the image.
            let begin = try #require(text.firstRange(of: "IMG_BEGIN"))
            // A packet of 20 bytes has no room for the whole name.
            let announcement = "IMG_BEGIN \(mtu == 23 ? "imag" : "image.png") \(size)"
            #expect(text[begin.lowerBound...].hasPrefix(announcement))
            let length = text[begin.lowerBound...].utf8.count - announcement.utf8.count - "IMG_END".utf8.count
            #expect(length == (size + 2) / 3 * 4)
            #expect(await host.change { peer, _ in peer.isQuiescent })
        }
    }

    /// Calls `body` with a central that is connected to `device`, and with the device's host.
    private func withCentral<Device: SimulatedPeripheral>(
        of device: Device, mtu: Int, _ body: (TestCentral, DeviceHost<Device>) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        let fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
        await fake.addAdapter()
        await fake.addAdapter("hci1", address: Self.address).setMTU(mtu)
        let bluez = try await BlueZ.open(.address(bus.address))
        let host = DeviceHost(device, pace: .onDemand, hasFlowControl: true)
        let server = try await PeripheralServer.open(host, over: bluez, on: "hci1")
        let central = try await TestCentral(on: bus.address, for: Self.address)
        _ = try await central.find()
        try await central.connect()
        let result: Result<Void, any Error>
        do { result = .success(try await body(central, host)) } catch { result = .failure(error) }
        await central.close()
        await server.close()
        await bluez.close()
        await fake.stop()
        try result.get()
    }
}
