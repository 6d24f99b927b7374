import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("Faults of writes and notifications as a whole")
struct PacketFaultTests {
    private static func pump(_ faults: String, seed: UInt64 = 1) throws -> FaultyDevice<HM10Module<PumpFirmware>> {
        let settings = try PeripheralSimulator.pump.settings(["fault": faults])
        var pump = FaultyDevice(HM10Module(PumpFirmware()), faults: settings.faults(), seed: seed)
        pump.take(.connected, at: .zero)
        return pump
    }

    @Test(
        "The disconnect fault drops the link in any write, wherever its line ends are",
        arguments: ["OFF\n", "\nOFF\n", "OFF\r\n", "OFF"])
    func disconnect(write: String) throws {
        var lengths: Set<Int> = []
        for seed in 1...200 as ClosedRange<UInt64> {
            var pump = try Self.pump("disconnect@always", seed: seed)
            pump.take(.wrote(Array(write.utf8), to: "FFE1", mtu: 23), at: .zero)
            #expect(pump.takeCarrierEvents().map(\.action) == [.hangUp], "seed \(seed)")
            #expect(pump.hasLostWrite)
            lengths.insert(pump.advance(to: .seconds(1)).flatMap(\.bytes).count)
        }
        // The seed decides how much of the write arrives. If its line end does not, there is no reply.
        #expect(lengths.contains(0))
    }

    @Test("A fault matches notifications by the beginning of their text")
    func wholeText() throws {
        let settings = try PeripheralSimulator.peer.settings(["fault": "lost@line:Tea", "size": "600"])
        var peer = FaultyDevice(PeerPeripheral(), faults: settings.faults())
        peer.take(.subscribed(PeerPeripheral.transmit), at: .zero)
        _ = peer.advance(to: .seconds(1))
        for text in ["Tea", "Te", "Teapot", "A Tea"] {
            peer.change(at: .seconds(1)) { $0.device.say(Array(text.utf8), at: $1) }
        }
        let told = peer.advance(to: .seconds(9)).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(told == ["Te", "A Tea"])
    }

    @Test("If the beginning of a notification's text matches a delay fault, the whole notification is late")
    func delayedWhole() throws {
        let settings = try PeripheralSimulator.peer.settings(["fault": "delay=2s@line:Tea", "size": "600"])
        var peer = FaultyDevice(PeerPeripheral(), faults: settings.faults())
        peer.take(.subscribed(PeerPeripheral.transmit), at: .zero)
        _ = peer.advance(to: .seconds(1))
        peer.change(at: .seconds(1)) { $0.device.say(Array("Teapot".utf8), at: $1) }
        #expect(peer.advance(to: .milliseconds(2900)).isEmpty)
        let told = peer.advance(to: .seconds(4))
        #expect(told.map { String(decoding: $0.bytes, as: UTF8.self) } == ["Teapot"])
    }
}
