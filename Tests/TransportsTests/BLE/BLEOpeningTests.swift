import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Transports

/// An opening searches for 500 ms more after the first match, for a stronger device or another one of the same name.
/// After a failed attempt, it pauses for 250 ms before it connects again. The parameter `after` of the rig counts from
/// the rig's beginning.
@Suite("Opening ble: endpoints", .timeLimit(.minutes(5)))
struct BLEOpeningTests {
    private static let stormService = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
    private static let backup = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
    private static let live = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"

    @Test func `An idle BLE link has no timers`() async throws {
        let rig = try await BLEOpeningRig()
        _ = await rig.addPump()
        let clock = ManualClock()
        let link = try await BLEEndpoint.open(
            Endpoint("ble:C0:FF:EE:00:00:01"), on: .shared, bus: .address(rig.bus.address), clock: clock)
        try await link.send(Array("STATUS\n".utf8))
        // An hour is longer than every time-out of opening and sending.
        clock.advance(by: .seconds(3600))
        await settle()
        #expect(clock.deadlines.isEmpty)
        await link.close()
    }

    @Test(arguments: ["ble:HMSoft", "ble:c0:ff:ee:00:00:01", "ble:HMSoft?family=pump&adapter=hci0"])
    func `A BLE device is opened by name and by address`(text: String) async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        let link = try await rig.open(text)
        #expect(link.name == text)
        #expect(link.deviceAddress == "C0:FF:EE:00:00:01")
        #expect(link.openingNote == nil)
        #expect(!link.keepsPacketBounds)
        await radio.characteristic("FFE1")?.notify(Array("HELLO\r\n".utf8))
        #expect(try await link.receive() == Array("HELLO\r\n".utf8))
        await link.close()
    }

    @Test func `A wildcard endpoint opens the strongest device that offers the family's service`() async throws {
        let rig = try await BLEOpeningRig()
        _ = await rig.addPump(1, "Weak", strength: -80)
        _ = await rig.addPump(2, "Strong", strength: -50)
        await rig.add(3, "Stronger", "FFF0", [("FFF1", [.write, .notify])], strength: -30)
        try await rig.makeKnown(3)
        let link = try await rig.open("ble:*?family=pump", after: .milliseconds(500))
        #expect(link.deviceAddress == "C0:FF:EE:00:00:02")
        await link.close()
    }

    @Test func `A wildcard endpoint for a storm sensor skips devices made from the same stock example`() async throws {
        let rig = try await BLEOpeningRig()
        await rig.add(1, "Clock", Self.stormService, [(Self.backup, [.write, .notify])], strength: -40)
        await rig.add(
            2, "Storm", Self.stormService, [(Self.live, [.notify]), (Self.backup, [.write, .notify])], strength: -70)
        try await rig.makeKnown(2)
        let link = try await rig.open("ble:*?family=storm", after: .milliseconds(500))
        #expect(link.deviceAddress == "C0:FF:EE:00:00:02")
        #expect(link.keepsPacketBounds)
        await link.close()
    }

    @Test func `Characteristics in two services are both found (ble-serial#40)`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.add(1, "HM-BT4502W", "FFE0", [("FFE4", [.notify])])
        await radio.addService("FFE5", "FFE9", [.writeWithoutResponse])
        let link = try await rig.open("ble:HM-BT4502W?family=pump")
        try await link.send("ON\n")
        #expect(await radio.characteristic("FFE9")?.value == Array("ON\n".utf8))
        #expect(link.openingNote == nil)
        await link.close()
    }

    @Test func `An unknown device is used with guessed characteristics and a note`() async throws {
        let rig = try await BLEOpeningRig()
        await rig.add(1, "Odd", "FFC0", [("FFC1", [.read]), ("FFC2", [.writeWithoutResponse]), ("FFC3", [.notify])])
        let link = try await rig.open("ble:Odd")
        #expect(
            link.openingNote == "unknown kind of device: writing to FFC2, which is writable, and subscribing to "
                + "FFC3, which notifies")
        await link.close()
    }

    @Test(arguments: ["storm", "led"])
    func `Characteristics are not guessed for a family that speaks no stream`(family: String) async throws {
        let rig = try await BLEOpeningRig()
        await rig.add(1, "Odd", "FFC0", [("FFC1", [.read, .write, .notify])])
        let error = await failure { try await rig.open("ble:Odd?family=\(family)") }
        #expect(error?.code == .unfit)
    }

    @Test func `A device without a writable characteristic is rejected as unfit`() async throws {
        let rig = try await BLEOpeningRig()
        await rig.add(1, "Thermometer", "1809", [("2A1C", [.indicate])])
        let error = await failure { try await rig.open("ble:Thermometer") }
        #expect(error?.code == .unfit)
        #expect(
            error.map { "\($0)" }
                == "ble:Thermometer: the device lacks the required characteristics: the device has 2A1C (indicate)")
        #expect(error?.hint?.contains("?profile=nus") == true)
        #expect(error?.hint?.hasPrefix("name the characteristics: ?write=UUID&hear=UUID") == true)
        let named = await failure { try await rig.open("ble:Thermometer?write=2A1C") }
        #expect(named?.code == .unfit && named?.hint?.contains("one that notifies") == true)
    }

    @Test(arguments: ["ble:BM70", "ble:BM70?family=pump", "ble:BM70?profile=issc"])
    func `Microchip's serial service is written to its receiving characteristic`(text: String)
        async throws
    {
        let rig = try await BLEOpeningRig()
        let (uart, hears) = ("49535343-FE7D-4AE5-8FA9-9FAFD205E455", "49535343-8841-43F4-A8D4-ECBE34729BB3")
        let tells = "49535343-1E4D-4BD9-BA61-23C647249616"
        let radio = await rig.add(
            1, "BM70", uart,
            [(tells, [.write, .writeWithoutResponse, .notify]), (hears, [.write, .writeWithoutResponse])])
        let link = try await rig.open(text)
        try await link.send("ON\n")
        #expect(await radio.characteristic(hears)?.value == Array("ON\n".utf8))
        await radio.characteristic(tells)?.notify(Array("OK\r\n".utf8))
        #expect(try await link.receive() == Array("OK\r\n".utf8))
        #expect(link.openingNote == nil)
        await link.close()
    }

    @Test(arguments: ["", "&family=pump"])
    func `Characteristics named in the endpoint are used, whatever else fits`(option: String) async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.add(
            1, "Odd", "FFC0",
            [("FFC1", [.write, .notify]), ("FFC2", [.writeWithoutResponse]), ("FFC3", [.notify])])
        let link = try await rig.open("ble:Odd?write=FFC2&hear=FFC3" + option)
        try await link.send("x")
        #expect(await radio.characteristic("FFC2")?.value == [0x78])
        await radio.characteristic("FFC3")?.notify([0x79])
        #expect(try await link.receive() == [0x79])
        #expect(link.openingNote == nil)
        await link.close()
    }

    @Test func `A search ends at the opening deadline, with the names in sight`() async throws {
        let rig = try await BLEOpeningRig()
        _ = await rig.addPump(1, "Is it?")
        try await rig.makeKnown(1)
        let steps = Watched<[BLEOpeningStep]>([])
        let opening = Task { await failure { try await rig.open("ble:Other", within: .seconds(2), steps) } }
        _ = try await steps.wait(for: "the search") { $0.isEmpty ? nil : true }
        await rig.clock.untilSomebodySleeps(until: .seconds(2))
        rig.clock.advance(by: .seconds(2))
        let error = await opening.value
        #expect(error?.code == .notFound && error?.hint == "in range: 'Is it%3F'")
    }

    @Test func `Connecting ends at the opening deadline`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.connectDelay = .seconds(3600) }
        let steps = Watched<[BLEOpeningStep]>([])
        let opening = Task {
            await failure { try await rig.open("ble:C0:FF:EE:00:00:01", within: .seconds(2), steps) }
        }
        try await rig.untilCalled("Connect")
        await rig.clock.untilSomebodySleeps(until: .seconds(2))
        rig.clock.advance(by: .seconds(2))
        let error = await opening.value
        #expect(error?.code == .timedOut)
        #expect(error?.detail == "C0:FF:EE:00:00:01 was not connected in 2 s")
        #expect(steps.state.map { "\($0)" } == ["searching", "connecting to C0:FF:EE:00:00:01"])
    }

    @Test func `Subscribing ends at the opening deadline`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.subscribeDelay = .seconds(3600) }
        let opening = Task { await failure { try await rig.open("ble:C0:FF:EE:00:00:01", within: .seconds(2)) } }
        try await rig.untilCalled("StartNotify")
        await rig.clock.untilSomebodySleeps(until: .seconds(2))
        rig.clock.advance(by: .seconds(2))
        let error = await opening.value
        #expect(error?.code == .timedOut)
        #expect(error?.detail == "subscribing to FFE1 of HMSoft took longer than 2 s")
    }

    @Test func `Opening waits until the deadline for services that appear late (bluez#1489)`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.exportDelay = .milliseconds(50) }
        let opening = Task { try await rig.open("ble:C0:FF:EE:00:00:01", within: .seconds(5)) }
        await rig.clock.untilSomebodySleeps(until: .milliseconds(50))
        await settle()
        rig.clock.advance(by: .milliseconds(50))
        let link = try await opening.value
        try await link.send("ON\n")
        #expect(await radio.characteristic("FFE1")?.value == Array("ON\n".utf8))
        await link.close()
    }

    /// Errors of a subscription that may not occur on a new connection: bluetoothd's cached services differ from the
    /// device's (bluez#191), or, in the last one, the device has disconnected.
    static let passing = [
        BlueZError.attribute(0x01), BlueZError.attribute(0x0A), BlueZError.notSupported,
        BlueZError.failed("Not connected"),
    ]

    @Test(arguments: passing)
    func `A failed subscription is retried with one new connection`(refusal: DBusError) async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.subscribeErrors = [refusal] }
        let link = try await rig.open("ble:C0:FF:EE:00:00:01", after: .milliseconds(250))
        #expect(await rig.calls(of: "Connect") == 2)
        await radio.characteristic("FFE1")?.notify(Array("OK\r\n".utf8))
        #expect(try await link.receive() == Array("OK\r\n".utf8))
        await link.close()
    }

    @Test func `A device is locked also between connection attempts`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.subscribeDelay = .seconds(3600) }
        let opening = Task { try await rig.openAtOnce("ble:C0:FF:EE:00:00:01") }
        try await rig.untilCalled("StartNotify")
        await Radio.run { radio.manners.subscribeDelay = .zero }
        await radio.dropLinks()
        await rig.clock.untilSomebodySleeps(until: .milliseconds(250))
        let other = await failure { try await rig.openAtOnce("ble:C0:FF:EE:00:00:01") }
        #expect(other?.code == .busy)
        rig.clock.advance(by: .milliseconds(250))
        await (try await opening.value).close()
    }

    // The last error has nothing to do with the cache.
    @Test(arguments: passing.dropLast())
    func `After two failed subscriptions the hint removes bluetoothd's cached device`(refusal: DBusError) async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.subscribeErrors = [refusal, refusal] }
        let error = await failure { try await rig.open("ble:C0:FF:EE:00:00:01", after: .milliseconds(250)) }
        #expect(error?.code == .system)
        #expect(error?.hint?.contains("bluetoothctl remove C0:FF:EE:00:00:01") == true)
        #expect(await rig.calls(of: "Connect") == 2)
        #expect(await radio.links.isEmpty)
    }

    @Test func `Persistent opening reconnects until its deadline`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await Radio.run { radio.manners.subscribeErrors = Array(repeating: BlueZError.attribute(0x01), count: 5) }
        let opening = Task { try await rig.openPersistently() }
        for attempt in 1...5 {
            await rig.clock.untilSomebodySleeps(until: .milliseconds(250 * attempt))
            rig.clock.advance(by: .milliseconds(250))
        }
        await (try await opening.value).close()
        #expect(await rig.calls(of: "Connect") == 6)

        await Radio.run { radio.manners.subscribeErrors = Array(repeating: BlueZError.attribute(0x01), count: 500) }
        let failing = Task { await failure { try await rig.openPersistently(within: .milliseconds(1100)) } }
        for _ in 1...4 {
            await rig.clock.untilSomebodySleeps(until: rig.clock.now.offset + .milliseconds(250))
            rig.clock.advance(by: .milliseconds(250))
        }
        let error = await failing.value
        #expect(error?.hint?.contains("bluetoothctl remove") == true)
        #expect(await rig.calls(of: "Connect") == 11)
    }

    @Test func `A device not found in 10 s is reported with the names in sight, the closest first`() async throws {
        let rig = try await BLEOpeningRig()
        for (number, name) in ["Lamp", "HMSoft2", "Kettle"].enumerated() { _ = await rig.addPump(number + 1, name) }
        try await rig.makeKnown(3)
        let error = await failure { try await rig.open("ble:HMSoft", after: .seconds(10)) }
        #expect(error?.code == .notFound)
        #expect(error?.hint == "in range: HMSoft2, Lamp, Kettle")
        // 10 s after the end of the first search.
        let none = await failure { try await rig.open("ble:*?family=led", after: .seconds(20)) }
        #expect(none?.code == .notFound)
        #expect(none?.hint?.contains("no phone") == true)
    }

    @Test func `A missing adapter, Bluetooth switched off and a missing bluetoothd are reported`() async throws {
        let rig = try await BLEOpeningRig()
        let missing = await failure { try await rig.openAtOnce("ble:HMSoft?adapter=hci9") }
        #expect(missing?.code == .notFound && missing?.hint == "choose one of: hci0")
        await rig.fake.switchOff()
        let off = await failure { try await rig.openAtOnce("ble:HMSoft") }
        #expect(off?.code == .unavailable && off?.hint?.contains("rfkill") == true)
        await rig.fake.stop()
        let gone = await failure { try await rig.openAtOnce("ble:HMSoft") }
        #expect(gone?.code == .unavailable)
        #expect("\(gone.map { "\($0)" } ?? "")".contains("bluetoothd is not running"))
    }

    @Test func `A line of 101 bytes goes to an HM-10 in packets of 20 bytes`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        let link = try await rig.open("ble:HMSoft")
        let packets = Watched<[[UInt8]]>([])
        await radio.record(packets)
        let line = Array(String(repeating: "x", count: 100).utf8) + [0x0A]
        let sending = Task { try await link.send(line) }
        let start = rig.clock.now.offset
        for packet in 1...5 {
            // The module takes 21 ms to send 20 bytes over its serial line at 9600 baud.
            let deadline = start + Duration.milliseconds(21 * packet)
            await rig.clock.untilSomebodySleeps(until: deadline)
            rig.clock.advance(by: deadline - rig.clock.now.offset)
        }
        try await sending.value
        #expect(packets.state.map(\.count) == [20, 20, 20, 20, 20, 1])
        #expect(Array(packets.state.joined()) == line)
        await link.close()
    }

    @Test func `A peer's message is sent in one write, or refused if it does not fit`() async throws {
        let rig = try await BLEOpeningRig()
        let service = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
        let transmit = ("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", [RadioCharacteristic.Flag.notify])
        func receive(_ flags: [RadioCharacteristic.Flag]) -> (String, [RadioCharacteristic.Flag]) {
            ("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", flags)
        }
        let both = await rig.add(1, "Both", service, [receive([.write, .writeWithoutResponse]), transmit])
        let link = try await rig.open("ble:Both?family=peer")
        let packets = Watched<[[UInt8]]>([])
        await both.record(packets, of: receive([]).0)
        // bluetoothd as a peripheral accepts at most 510 bytes in a write.
        for count in [20, 21, 510] { try await link.send([UInt8](repeating: 0x78, count: count)) }
        #expect(packets.state.map(\.count) == [20, 21, 510])
        await #expect(throws: LinkError.self) { try await link.send([UInt8](repeating: 0x78, count: 511)) }
        await link.close()

        // Without a response, the smallest packets have room for 20 bytes.
        let one = await rig.add(2, "One", service, [receive([.writeWithoutResponse]), transmit])
        let other = try await rig.open("ble:One?family=peer")
        await one.record(packets, of: receive([]).0)
        try await other.send([UInt8](repeating: 0x78, count: 20))
        let error = await #expect(throws: LinkError.self) {
            try await other.send([UInt8](repeating: 0x78, count: 21))
        }
        #expect(error?.code == .unsupported)
        #expect(packets.state.map(\.count) == [20, 21, 510, 20])
        await other.close()
    }

    @Test func `A released BLE link disconnects its device`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        var link: (any Link)? = try await rig.open("ble:HMSoft")
        #expect(await radio.links.count == 1)
        #expect(link != nil)
        link = nil
        _ = try await rig.fake.calls.wait(for: "Disconnect") { calls in
            calls.contains { $0.member == "Disconnect" } ? true : nil
        }
    }

    @Test func `A failed attempt does not end the link opened after it (ble-serial#119)`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.addPump()
        await radio.failOnce()
        // The first attempt fails, and the second one opens the link.
        let link = try await rig.open("ble:C0:FF:EE:00:00:01", after: .milliseconds(250))
        let ends = Watched<Int>(0)
        await link.forward { if case .ended = $0 { ends.update { $0 += 1 } } }
        #expect(ends.state == 0)
        await link.close()
        #expect(ends.state == 1)
    }
}

extension FakeBlueZ {
    fileprivate func switchOff() { adapters.first?.isPowered = false }
}

extension RadioDevice {
    fileprivate func addService(_ service: String, _ characteristic: String, _ flags: [RadioCharacteristic.Flag]) {
        services.append(RadioService(service, [RadioCharacteristic(characteristic, flags)]))
    }

    fileprivate func record(_ packets: Watched<[[UInt8]]>, of characteristic: String = "FFE1") {
        self.characteristic(characteristic)?.onWrite = { bytes, _ in packets.update { $0.append(bytes) } }
    }

    fileprivate func failOnce() { manners.connectErrors = [BlueZError.abortedByLocal] }
}
