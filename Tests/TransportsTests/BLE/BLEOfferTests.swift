import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import LineProtocol
import TestSupport
import Testing

@testable import Transports

@Suite("Devices offered over BLE", .timeLimit(.minutes(5)))
struct BLEOfferTests {
    private static let address = "00:00:5E:00:53:02"

    /// An offer on hci1, and a connected central on hci0.
    private struct Rig {
        let bus: PrivateBus
        let fake: FakeBlueZ
        let adapter: FakeAdapter
        let offer: BLEOffer
        let central: TestCentral
        let links = Watched<[any Link]>([])

        /// - Parameter mtu: The MTU of the central's connection. A packet has room for 3 bytes less.
        init(_ profile: GATTProfile, mtu: Int = 100) async throws {
            bus = try await PrivateBus()
            fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
            await fake.addAdapter()
            adapter = await fake.addAdapter("hci1", address: address)
            await adapter.setMTU(mtu)
            offer = try await BLEOffer.open(
                profile, name: "Offer", on: "hci1", bus: .address(bus.address),
                onCentral: { [links] link in links.update { $0.append(link) } })
            central = try await TestCentral(on: bus.address, for: BLEOfferTests.address)
            #expect(try await central.find() == "Offer")
            try await central.connect()
        }

        func link(_ number: Int = 0) async throws -> any Link {
            try await links.wait(for: "a link") { $0.count > number ? $0[number] : nil }
        }

        func close() async {
            await central.close()
            await offer.close()
            await fake.stop()
        }
    }

    private func withRig(_ profile: GATTProfile, _ body: (Rig) async throws -> Void) async throws {
        let rig = try await Rig(profile)
        do {
            try await body(rig)
        } catch {
            await rig.close()
            throw error
        }
        await rig.close()
    }

    private static let nordic = GATTProfile.nordicUART

    @Test func `A central that subscribes gets a link, and data is split to fit its packets`() async throws {
        try await withRig(.rescue) { rig in
            #expect(rig.links.state.isEmpty)
            try await rig.central.subscribe("FFF1")
            let link = try await rig.link()
            #expect(link.name == "ble:00:00:5E:00:53:01" && link.deviceAddress == "00:00:5E:00:53:01")
            try await link.send([UInt8](repeating: 7, count: 200))
            #expect(try await rig.central.hears(200, of: "FFF1").map(\.count) == [97, 97, 6])
            #expect(rig.links.state.count == 1)
        }
    }

    @Test func `A central that writes gets a link, and sending waits for its subscription`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.write([UInt8](repeating: 1, count: 300), to: "FFF1")
            let link = try await rig.link()
            #expect(try await link.receive() == [UInt8](repeating: 1, count: 300))
            let sending = Task { try await link.send([2, 3]) }
            let cancelled = Task { try await link.send([4]) }
            cancelled.cancel()
            await #expect(throws: LinkError.self) { try await cancelled.value }
            try await rig.central.subscribe("FFF1")
            try await sending.value
            #expect(try await rig.central.hears(2, of: "FFF1") == [[2, 3]])
            #expect(rig.links.state.count == 1)
        }
    }

    @Test func `After a cancelled send, later ones still wait for the subscription`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.write([1], to: "FFF1")
            let link = try await rig.link()
            let cancelled = Task(executorPreference: EventLoop.shared) { try await link.send([2]) }
            await settle()
            cancelled.cancel()
            let error = await #expect(throws: LinkError.self) { try await cancelled.value }
            #expect(error?.code == .cancelled)
            let sending = Task(executorPreference: EventLoop.shared) { try await link.send([3]) }
            await settle()
            try await rig.central.subscribe("FFF1")
            try await sending.value
            #expect(try await rig.central.hears(1, of: "FFF1") == [[3]])
        }
    }

    @Test func `A central's disconnection is reported after its last bytes`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.subscribe("FFF1")
            let link = try await rig.link()
            try await rig.central.write([1], to: "FFF1")
            try await rig.central.disconnect()
            #expect(try await link.receive() == [1])
            let received = await #expect(throws: LinkError.self) { try await link.receive() }
            let sent = await #expect(throws: LinkError.self) { try await link.send([2]) }
            #expect(received?.code == .disconnected && sent?.code == .disconnected)
            // A central that connects again gets another link.
            try await rig.central.connect()
            try await rig.central.subscribe("FFF1")
            let other = try await rig.link(1)
            try await other.send([3])
            #expect(try await rig.central.hears(1, of: "FFF1") == [[3]])
        }
    }

    @Test func `A central that subscribes again gets a new link`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.subscribe("FFF1")
            let link = try await rig.link()
            try await rig.central.unsubscribe("FFF1")
            try await rig.central.subscribe("FFF1")
            let other = try await rig.link(1)
            await #expect(throws: LinkError.self) { try await link.send([2]) }
            try await other.send([3])
            #expect(try await rig.central.hears(1, of: "FFF1") == [[3]])
        }
    }

    @Test func `Sending to a central that has unsubscribed fails`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.subscribe("FFF1")
            let link = try await rig.link()
            try await rig.central.unsubscribe("FFF1")
            let error = await #expect(throws: LinkError.self) { try await link.send([1]) }
            #expect(error?.code == .disconnected)
        }
    }

    @Test func `Sending fails if the central unsubscribes before bluetoothd took the data`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.subscribe("FFF1")
            let link = try await rig.link()
            let holding = rig.adapter.holding.state
            holding.update { $0.isOn = true }
            let sending = Task { try await link.send([UInt8](repeating: 7, count: 300)) }
            // Now the whole write is in flight: its first packet is read, and the others are not.
            _ = try await holding.wait(for: "a packet") { $0.count > 0 ? true : nil }
            await settle()
            try await rig.central.unsubscribe("FFF1")
            let error = await #expect(throws: LinkError.self) { try await sending.value }
            #expect(error?.code == .disconnected)
            holding.update { $0.isOn = false }
        }
    }

    @Test func `Packet bounds are kept if each packet is a message, and none is split`() async throws {
        try await withRig(Self.nordic) { rig in
            try await rig.central.subscribe(Self.nordic.hear.text)
            let link = try await rig.link()
            for number in UInt8(1)...3 { try await rig.central.write([number], to: Self.nordic.write.text) }
            for number in UInt8(1)...3 { #expect(try await link.receive() == [number]) }
            for number in UInt8(1)...3 { try await link.send([number]) }
            #expect(try await rig.central.hears(3, of: Self.nordic.hear.text).flatMap(\.self) == [1, 2, 3])
            let error = await #expect(throws: LinkError.self) { try await link.send([UInt8](repeating: 0, count: 98)) }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `Closing an offer withdraws it and ends its links`() async throws {
        try await withRig(.rescue) { rig in
            try await rig.central.subscribe("FFF1")
            let link = try await rig.link()
            await rig.offer.close()
            #expect(try await link.receive() == nil)
            let error = await #expect(throws: LinkError.self) { try await link.send([1]) }
            #expect(error?.code == .closed)
            try await rig.central.isHungUpOn()
            await rig.offer.close()
        }
    }
}

extension FakeAdapter {
    fileprivate func setMTU(_ mtu: Int) { ownRadio.manners.mtu = mtu }
}
