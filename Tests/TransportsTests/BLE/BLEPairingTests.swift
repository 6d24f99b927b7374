import BlueZ
import DBus
import DeviceTestKit
import FakeBlueZ
import LineProtocol
import TestSupport
import Testing

@testable import Transports

@Suite("BLE devices that require pairing", .timeLimit(.minutes(5)))
struct BLEPairingTests {
    private static let address = "C0:FF:EE:00:00:01"

    private func expectPairing(_ error: LinkError?, _ location: SourceLocation = #_sourceLocation) {
        #expect(error?.code == .notPermitted, sourceLocation: location)
        #expect(error?.detail?.contains("not paired") == true, sourceLocation: location)
        #expect(
            error?.hint?.hasPrefix(
                "pair with the device: add ?pair to the endpoint, or run bluetoothctl pair \(Self.address); ") == true,
            sourceLocation: location)
    }

    @Test(arguments: [
        BlueZError.attribute(0x05), BlueZError.attribute(0x0E), BlueZError.attribute(0x0F),
        BlueZError.notPermitted("Not paired"),
    ])
    func `Subscribing, sending and confirming fail with a pairing hint`(refusal: DBusError)
        async throws
    {
        let rig = try await BLEOpeningRig()
        let radio = await rig.add(1, "Odd", "FFC0", [("FFC1", [.read, .write, .notify])])
        await Radio.run {
            radio.manners.needsPairing = true
            radio.manners.pairingError = refusal
        }
        expectPairing(await failure { try await rig.open("ble:Odd") })
        await Radio.run { radio.manners.letsUnpairedSubscribe = true }
        let link = try await rig.open("ble:Odd")
        // 10 bytes are written in one part, 300 bytes in several.
        for count in [10, 300] {
            expectPairing(
                await #expect(throws: LinkError.self) { try await link.send([UInt8](repeating: 0x78, count: count)) })
        }
        expectPairing(await #expect(throws: LinkError.self) { try await link.confirmConnection() })
        await link.close()
    }

    @Test func `Reading or writing a value fails with a pairing hint`() async throws {
        let rig = try await BLEOpeningRig()
        let board = await rig.add(
            1, "ece196", "937312E0-2354-11EB-9F10-FBC30A62CF38",
            [("957312E0-2354-11EB-9F10-FBC30A62CF38", [.read, .write])])
        await Radio.run {
            board.manners.needsPairing = true
            board.manners.pairingError = BlueZError.attribute(0x0F)
        }
        let link = try await rig.open("ble:ece196?family=led")
        for line in ["LED\n", "LED:1\n"] {
            expectPairing(await #expect(throws: LinkError.self) { try await link.send(Array(line.utf8)) })
        }
        await link.close()
    }

    @Test func `Writes without response may stay unanswered for lack of pairing, and the hint says so`() async throws {
        let rig = try await BLEOpeningRig()
        let pump = await rig.addPump()
        let link = try await rig.open("ble:HMSoft")
        #expect(
            link.silenceHint
                == "if the device requires pairing, add ?pair to the endpoint, or run bluetoothctl pair "
                + "\(Self.address)")
        await link.close()
        let paired = try await rig.open("ble:HMSoft?pair")
        #expect(paired.silenceHint == nil)
        await paired.close()
        await rig.fake.remove(pump)
        await rig.add(2, "Odd", "FFC0", [("FFC1", [.read, .write, .notify])])
        let confirmed = try await rig.open("ble:Odd")
        try await confirmed.send("x")
        #expect(confirmed.silenceHint == nil)
        await confirmed.close()
    }

    @Test func `An unanswered write request has a hint on pairing, and so has the refused next one`() async throws {
        let rig = try await BLEOpeningRig()
        let radio = await rig.add(1, "Odd", "FFC0", [("FFC1", [.read, .write, .notify])])
        await Radio.run { radio.manners.writeDelay = .seconds(3600) }
        let link = try await rig.open("ble:Odd")
        let possibility =
            "if the device requires pairing, add ?pair to the endpoint, or run bluetoothctl pair \(Self.address)"
        #expect(link.silenceHint == nil)
        let sending = Task { await #expect(throws: LinkError.self) { try await link.send("x") } }
        await rig.clock.untilSomebodySleeps(until: rig.clock.now.offset + .seconds(3600))
        #expect(link.silenceHint == possibility)
        // The time limit of a D-Bus call.
        rig.clock.advance(by: .seconds(25))
        let error = await sending.value
        #expect(error?.code == .timedOut && error?.hint == possibility)
        let next = Task { await #expect(throws: LinkError.self) { try await link.send("y") } }
        // bluetoothd refuses the write because another one is in progress. It is repeated after pauses that double.
        for exponent in 0..<8 {
            let pause = Duration.milliseconds(10 << exponent)
            await rig.clock.untilSomebodySleeps(until: rig.clock.now.offset + pause)
            rig.clock.advance(by: pause)
        }
        let other = await next.value
        #expect(other?.code == .timedOut && other?.hint == possibility)
        #expect(link.silenceHint == possibility)
        await link.close()
    }
}
