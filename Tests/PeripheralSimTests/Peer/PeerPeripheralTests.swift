import BlueZ
import FirmwareSim
import Foundation
import PeripheralSim
import Testing

@Suite("The text and image peer over BLE")
struct PeerPeripheralTests {
    private static let size = 1000

    /// A peer with a subscriber that it has greeted. The packet length is unknown if `mtu` is nil.
    private static func peer(
        mtu: Int? = 517, fault: PeerFirmwareOptions.ImageFault? = nil, interval: Duration? = nil
    ) -> PeerPeripheral {
        var peer = PeerPeripheral(
            PeerFirmwareOptions(
                name: "bench", startTime: 1_738_339_445, seed: 7, imageByteCount: size, imageFault: fault,
                interval: interval, acknowledges: true))
        peer.take(.connected, at: .zero)
        peer.setNotificationLength(mtu.map { $0 - 3 })
        peer.take(.subscribed(PeerPeripheral.transmit), at: .zero)
        #expect(texts(peer.advance(to: .zero)) == ["HELLO from bench @ 2025-01-31T16:04:05Z"])
        return peer
    }

    private static func texts(_ emissions: [Emission]) -> [String] {
        emissions.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// The notifications during the ten seconds after a write.
    private static func answer(_ peer: inout PeerPeripheral, to text: String) -> [Emission] {
        peer.take(.wrote(Array(text.utf8), to: PeerPeripheral.receive, mtu: 517), at: .seconds(10))
        return peer.advance(to: .seconds(10)) + peer.advance(to: .seconds(20))
    }

    @Test("The peer offers the Nordic UART Service under its greeting name")
    func description() {
        let offered = PeerPeripheral().offered
        #expect(offered.name == "QDevice1")
        #expect(offered.services.map(\.uuid) == ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"])
        let characteristics = offered.services[0].characteristics
        #expect(characteristics.map(\.uuid.text).map { $0.prefix(8).uppercased() } == ["6E400002", "6E400003"])
        #expect(characteristics.map(\.flags) == [[.write, .writeWithoutResponse], [.notify]])
        #expect(offered.budget.fits)
    }

    @Test("Each notification and each write is a message without a line end")
    func messages() {
        var peer = Self.peer()
        let answers = Self.answer(&peer, to: "Hello")
        #expect(Self.texts(answers) == ["Hello ack"])
        #expect(answers.map(\.characteristic) == [PeerPeripheral.transmit])
        #expect(Self.answer(&peer, to: "on").isEmpty)
        #expect(peer.device.isOn)
        for text in ["Grüße", "a line\nand another"] { #expect(Self.answer(&peer, to: text).isEmpty) }
        #expect(peer.device.messages.map { String(decoding: $0, as: UTF8.self) } == ["Grüße", "a line\nand another"])
        #expect(peer.isQuiescent)
    }

    @Test(
        "An image is a begin notification, base64 and an end, all within the packet length", arguments: [23, 100, 517])
    func image(mtu: Int) throws {
        var peer = Self.peer(mtu: mtu)
        let texts = Self.texts(Self.answer(&peer, to: "GET_IMAGE"))
        #expect(texts.allSatisfy { $0.utf8.count <= mtu - 3 })
        #expect(texts.first == (mtu == 23 ? "IMG_BEGIN image 1000" : "IMG_BEGIN image.png 1000"))
        #expect(texts.last == "IMG_END")
        let chunks = texts.dropFirst().dropLast()
        #expect(chunks.dropLast().allSatisfy { $0.utf8.count == min(180, mtu - 3) })
        #expect(try #require(Data(base64Encoded: chunks.joined())) == Data(PeerPicture(seed: 7, byteCount: 1000).bytes))
    }

    @Test("An image's size is announced in full even if its name is shortened")
    func shortName() {
        var peer = PeerPeripheral(PeerFirmwareOptions(imageName: "雨x", imageByteCount: 100_000))
        peer.setNotificationLength(20)
        #expect(Self.texts(Self.answer(&peer, to: "GET")).first == "IMG_BEGIN 雨 100000")
        peer.setNotificationLength(21)
        #expect(Self.texts(Self.answer(&peer, to: "GET")).first == "IMG_BEGIN 雨x 100000")
    }

    @Test("Each image fault shows in the notifications", arguments: PeerFirmwareOptions.ImageFault.allCases)
    func faults(fault: PeerFirmwareOptions.ImageFault) {
        var (peer, sound) = (Self.peer(fault: fault), Self.peer())
        let (texts, whole) = (Self.texts(Self.answer(&peer, to: "GET")), Self.texts(Self.answer(&sound, to: "GET")))
        switch fault {
        case .noFileSelected, .notPNG: #expect(texts == ["IMG_ERROR \(fault.rawValue)"])
        case .readFailed: #expect(texts.last == "IMG_ERROR read_failed" && texts.count > 2)
        case .beginBadFormat: #expect(texts == ["IMG_BEGIN image.png"] + whole.dropFirst())
        case .tooLarge: #expect(texts.first == "IMG_BEGIN image.png \(PeerFirmwareOptions.largestImage + 1)")
        case .base64Invalid:
            #expect(zip(texts, whole).count { $0 != $1 } == 1 && texts.count == whole.count)
            #expect(zip(texts, whole).first { $0 != $1 }?.0.contains("=") == true)
        case .sizeMismatch: #expect(texts.count == whole.count - 1 && texts.last == "IMG_END")
        case .stalls: #expect(!texts.contains("IMG_END") && texts.count > 1)
        }
    }

    @Test("A long message is split over packets between characters")
    func parts() {
        var peer = Self.peer(mtu: 23, interval: .seconds(1))
        let texts = Self.texts(peer.advance(to: .seconds(4)))
        #expect(texts.joined() == PeerFirmware.stock.joined())
        #expect(texts.allSatisfy { $0.utf8.count <= 20 && !$0.contains("\u{FFFD}") })
    }

    @Test("With unknown packet length messages are sent whole")
    func unknownLength() {
        var peer = Self.peer(mtu: nil, interval: .seconds(1))
        #expect(Self.texts(peer.advance(to: .seconds(4))) == PeerFirmware.stock)
        var other = Self.peer(mtu: nil)
        #expect(Self.texts(Self.answer(&other, to: "GET")).map(\.utf8.count).max() == 180)
    }

    @Test("Unsubscribing drops the image but keeps the written input")
    func leaving() {
        var peer = Self.peer(fault: .stalls)
        peer.take(.wrote(Array("GET".utf8), to: PeerPeripheral.receive, mtu: 517), at: .seconds(1))
        peer.take(.wrote(Array("ON".utf8), to: PeerPeripheral.receive, mtu: 517), at: .seconds(1))
        peer.take(.unsubscribed(PeerPeripheral.transmit), at: .seconds(1))
        peer.take(.disconnected, at: .seconds(2))
        peer.take(.connected, at: .seconds(3))
        peer.take(.subscribed(PeerPeripheral.transmit), at: .seconds(3))
        _ = peer.advance(to: .seconds(3))
        #expect(peer.device.isOn)
        #expect(Self.texts(Self.answer(&peer, to: "Hello")) == ["Hello ack"])
    }

    @Test("A peer's verbs and settings work as on a line")
    func control() async throws {
        let peer = await ControlledDevice(Self.peer())
        #expect(await peer.host.handle.observe()["listener"] == .boolean(true))
        #expect(try await Self.texts(peer.perform("say", "bring water")) == ["bring water"])
        let hello = CentralEvent.wrote(Array("Hello".utf8), to: PeerPeripheral.receive, mtu: 517)
        #expect(await Self.texts(peer.take(hello)) == ["Hello ack"])
        _ = try await peer.perform("set", "acks", "off")
        #expect(await peer.take(hello).isEmpty)
        _ = try await peer.perform("toggle")
        #expect(await peer.host.handle.observe()["on"] == .boolean(true))
    }
}
