import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("Shared peers", .timeLimit(.minutes(3)))
struct SharedPeerTests {
    private static func firmware() -> PeerFirmware {
        PeerFirmware(options: PeerFirmwareOptions(carrier: .line(.unlimited), seed: 3, imageByteCount: 1_000_000))
    }

    /// The peer's reply to a direct client that requests the image, without the greeting.
    private static var image: [UInt8] {
        var peer = firmware()
        peer.receive(Array("GET\n".utf8), at: .zero)
        var bytes: [UInt8] = []
        while !peer.isQuiescent, let next = peer.nextActivity {
            for emission in peer.advance(to: next) { bytes += emission.bytes }
        }
        return bytes
    }

    @Test("A requested image goes to its requester, and other lines to all clients")
    func image() async throws {
        let image = Self.image
        // The peer greets once it has received something.
        try await SharedBench.run(.peer, Self.firmware(), isListened: false) { bench, host in
            let (asker, other) = (try await bench.client(), try await bench.client())
            try await asker.say(" get_image \n")
            for client in [asker, other] {
                #expect(try await client.line()?.hasPrefix("HELLO from QDevice1 @ ") == true)
            }
            #expect(await asker.bytes(image.count) == image)
            await host.change { $0.say(Array("Good morning".utf8), at: $1) }
            #expect(try await asker.line() == "Good morning")
            #expect(try await other.line() == "Good morning")
        }
    }

    @Test("Image requests are answered one after another, and texts are sent in between")
    func turns() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        try await SharedBench.run(.peer, at: "ble:QDevice1") {
            link
        } _: { bench in
            let (first, second) = (try await bench.client(), try await bench.client())
            try await first.say("GET\n")
            #expect(await link.nextSent() == "GET")
            await link.deliver("IMG_BEGIN a.png 3")
            #expect(try await first.line() == "IMG_BEGIN a.png 3")
            try await second.say("ON\nGrüße ☂\nGET_IMAGE\n")
            #expect(await link.nextSent(2) == ["ON", "Grüße ☂"])
            await link.deliver(["ON", "two\nlines", "QUJD"].map { Array($0.utf8) })
            #expect(link.unreadSent == [])
            await link.deliver("IMG_END")
            #expect(await link.nextSent() == "GET_IMAGE")
            await link.deliver("IMG_ERROR no_file_selected")
            for line in ["ON", "two lines", "QUJD", "IMG_END"] { #expect(try await first.line() == line) }
            for line in ["ON", "two lines", "IMG_ERROR no_file_selected"] { #expect(try await second.line() == line) }
        }
    }

    @Test("A text that does not fit a packet is reported, and later texts are sent")
    func tooLong() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        try await SharedBench.run(.peer, at: "ble:QDevice1") {
            link
        } _: { bench in
            let client = try await bench.client()
            link.failSends(with: LinkError(.unsupported, name: "scripted", activity: "send"))
            try await client.say("much too long\n")
            try await bench.untilReported("that it failed") { if case .notSent = $0 { true } else { false } }
            link.failSends(with: nil)
            try await client.say("short\n")
            #expect(await link.nextSent() == "short")
        }
    }
}
