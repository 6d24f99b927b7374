import BlueZ
import DBus
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import LineProtocol
import TestSupport
import Testing

@testable import Transports

@Suite("BLE devices that hold values", .timeLimit(.minutes(5)))
struct BLEValueTests {
    private static let service = "937312E0-2354-11EB-9F10-FBC30A62CF38"
    private static let led = "957312E0-2354-11EB-9F10-FBC30A62CF38"

    /// A fake bluetoothd with an LED board, and the values written to it.
    private struct Rig {
        let bus: PrivateBus
        let fake: FakeBlueZ
        let board: RadioDevice
        let characteristic: RadioCharacteristic
        let writes = Watched<[[UInt8]]>([])

        init(_ flags: [RadioCharacteristic.Flag] = [.read, .write, .notify]) async throws {
            bus = try await PrivateBus()
            fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
            await fake.addAdapter()
            (board, characteristic) = await Radio.run { [writes] in
                let characteristic = RadioCharacteristic(led, flags, value: [0])
                characteristic.onWrite = { bytes, request in
                    if request.wantsAnswer { writes.update { $0.append(bytes) } }
                    characteristic.value = bytes
                }
                let board = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "ece196", services: [service]))
                board.services = [RadioService(service, [characteristic])]
                return (board, characteristic)
            }
            await fake.add(board)
        }

        func open() async throws -> any Link {
            try await BLEEndpoint.open(
                Endpoint("ble:ece196?family=led"), on: .shared, bus: .address(bus.address),
                as: BLEUse(profiles: .devices))
        }

        /// Waits until bluetoothd has received `count` read requests.
        func untilRead(_ count: Int) async throws {
            _ = try await fake.calls.wait(for: "read \(count)") { calls in
                calls.count { $0.member == "ReadValue" } == count ? true : nil
            }
        }

        func setValue(_ value: [UInt8]) async { await Radio.run { characteristic.value = value } }
    }

    private func receive(_ link: any Link) async throws -> String? {
        try await link.receive().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [[.read, .write], [.read, .write, .notify]] as [[RadioCharacteristic.Flag]])
    func `Lines over a link to values read and write one byte`(flags: [RadioCharacteristic.Flag]) async throws {
        let rig = try await Rig(flags)
        let link = try await rig.open()
        #expect(!link.keepsPacketBounds)
        #expect(link.maximumWriteLength == nil)
        try await link.send("LED\n")
        #expect(try await receive(link) == "LED:0\n")
        await rig.setValue([0x42])
        try await link.send("LED\r\n")
        #expect(try await receive(link) == "LED:1\n")
        #expect(rig.writes.state == [])
        try await link.send("LED:0\n")
        #expect(try await receive(link) == "LED:0\n")
        try await link.send("LED:1\n")
        #expect(try await receive(link) == "LED:1\n")
        #expect(rig.writes.state == [[0], [1]])
        await link.close()
    }

    @Test func `Lines for values run in order, however they are split, and other lines write nothing`() async throws {
        let rig = try await Rig()
        let link = try await rig.open()
        try await link.send("\nled:0\nLED:2\nFAN\nLED:")
        try await link.send("1")
        #expect(rig.writes.state == [])
        try await link.send("\nLED\nLED:0\nLED")
        try await link.send(String(repeating: "x", count: BLEValues.lineLimit - 3) + "LED:1\n")
        #expect(rig.writes.state == [[1], [0]])
        #expect(try await receive(link) == "LED:1\nLED:1\nLED:0\n")
        await link.close()
    }

    @Test func `Values of a profile use its encodings and access rights`()
        async throws
    {
        let rig = try await Rig()
        let (speed, label) = await Radio.run { [board = rig.board] in
            let speed = RadioCharacteristic("FFB1", [.read, .write, .notify], value: [0x34, 0x12])
            let label = RadioCharacteristic("FFB2", [.read, .write], value: [])
            board.services.append(RadioService("FFB0", [speed, label]))
            return (speed, label)
        }
        var profiles = GATTProfiles()
        profiles.add(
            GATTProfile(
                "fan", services: ["FFB0"], write: "FFB2", hear: "FFB1", writeType: .request, chunkLength: 20,
                values: [
                    GATTValue(
                        "SPEED", service: "FFB0", characteristic: "FFB1", access: .read,
                        encoding: .unsigned(byteCount: 2)),
                    GATTValue("LABEL", characteristic: "FFB2", access: [.read, .write], encoding: .text),
                    GATTValue(
                        "LED", service: "FFB0", characteristic: "957312E0-2354-11EB-9F10-FBC30A62CF38",
                        encoding: .boolean),
                ]))
        let link = try await BLEEndpoint.open(
            Endpoint("ble:ece196"), on: .shared, bus: .address(rig.bus.address), as: BLEUse(profiles: profiles))
        // SPEED can't be set, its change is not notified, and LED belongs to another service.
        try await link.send("SPEED:5\nLED:1\n")
        await speed.notify([1, 0])
        try await link.send("SPEED\nLABEL:north: 2\nLABEL\n")
        #expect(try await receive(link) == "SPEED:4660\nLABEL:north: 2\nLABEL:north: 2\n")
        #expect(await Radio.run { label.value } == Array("north: 2".utf8))
        #expect(rig.writes.state == [])
        await link.close()
    }

    @Test func `A notification arrives as a line`() async throws {
        let rig = try await Rig()
        let link = try await rig.open()
        await rig.characteristic.notify([7])
        #expect(try await receive(link) == "LED:1\n")
        await rig.characteristic.notify([0])
        #expect(try await receive(link) == "LED:0\n")
        await link.close()
    }

    @Test func `A value notified during a write arrives as a line besides the write's line`() async throws {
        let rig = try await Rig()
        await Radio.run { [characteristic = rig.characteristic] in
            // Some sketches notify in the handler of a write, before the write is confirmed.
            characteristic.onWrite = { bytes, _ in characteristic.notify(bytes) }
        }
        let link = try await rig.open()
        try await link.send("LED:1\n")
        await settle()
        #expect(try await receive(link) == "LED:1\nLED:1\n")
        await link.close()
    }

    @Test func `A value notified during a read arrives as a line besides the read's line`() async throws {
        let rig = try await Rig()
        await Radio.run { [characteristic = rig.characteristic] in
            characteristic.onRead = { _ in
                characteristic.notify([1])
                return [1]
            }
        }
        let link = try await rig.open()
        try await link.send("LED\n")
        await settle()
        #expect(try await receive(link) == "LED:1\nLED:1\n")
        await link.close()
    }

    @Test func `Bytes that are no value arrive as a line of unknown form`() async throws {
        let rig = try await Rig()
        await rig.setValue([1, 2])
        let link = try await rig.open()
        let led = try await LEDSession.begin(over: link, clock: ManualClock())
        // Subscribe first: on a busy machine the line may come before a later subscription.
        var heard = await led.events().makeAsyncIterator()
        let reading = Task { try await led.read(.led) }
        guard case .heard(.unknown(let line)) = await heard.next() else {
            Issue.record("something else was heard")
            return
        }
        #expect(String(decoding: line, as: UTF8.self) == "LED:0x0102")
        reading.cancel()
        _ = await reading.result
        await led.close()
    }

    @Test func `A device lost during a write leaves its outcome unknown`() async throws {
        let rig = try await Rig()
        await Radio.run { rig.board.manners.writesUntilLoss = 0 }
        let led = try await LEDSession.begin(over: rig.open(), clock: ManualClock())
        let error = await #expect(throws: SessionError.self) { try await led.write(.boolean(true), to: .led) }
        #expect(error?.code == .linkLost)
        #expect(error?.outcome == .unknown)
        await led.close()
    }

    @Test func `A delayed read times out, and a notification answers the next one`() async throws {
        let rig = try await Rig()
        await Radio.run { rig.board.manners.readDelay = .seconds(3600) }
        let clock = ManualClock()
        let led = try await LEDSession.begin(over: rig.open(), clock: clock)
        let reading = Task { try await led.read(.led, timeout: .seconds(4)) }
        try await rig.untilRead(1)
        // The session repeats an unanswered query once, after half of the time limit.
        await clock.untilSomebodySleeps(until: .seconds(2))
        clock.advance(by: .seconds(2))
        try await rig.untilRead(2)
        await clock.untilSomebodySleeps(until: .seconds(4))
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: SessionError.self) { try await reading.value }
        #expect(error?.code == .noAnswer)
        let second = Task { try await led.read(.led, timeout: .seconds(4)) }
        try await rig.untilRead(3)
        await rig.characteristic.notify([1])
        #expect(try await second.value == .boolean(true))
        await led.close()
    }
}
