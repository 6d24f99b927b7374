import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("User actions on a peer")
struct PeerHostingTests {
    @Test func `Messages wait for a listener, and each wait is reported once`() {
        let events = Watched<[PeerFirmwareEvent]>([])
        var peer = PeerFirmware(options: PeerFirmwareOptions(carrier: .line(.unlimited), name: "bench"))
        peer.onEvent = { event in events.update { $0.append(event) } }
        for text in ["", "one", "two", "IMG_END"] { peer.say(Array(text.utf8), at: .zero) }
        #expect(events.state == [.waits, .notSaid(Array("IMG_END".utf8))])
        peer.hostCame(at: .zero)
        let said = String(decoding: peer.advance(to: .seconds(1)).flatMap(\.bytes), as: UTF8.self)
        #expect(said == "HELLO from bench @ 1970-01-01T00:00:00Z\r\none\r\ntwo\r\n")
        peer.say(Array("three".utf8), at: .seconds(1))
        peer.hostLeft(at: .seconds(2))
        for text in ["four", "five"] { peer.say(Array(text.utf8), at: .seconds(3)) }
        #expect(events.state.dropFirst(2) == [.listenerCame, .listenerLeft, .waits])
    }

    @Test func `An image file is read and named by its last path component`() throws {
        let folder = TemporaryFolder()
        let bytes = PeerPicture(seed: 3, byteCount: 1000).bytes
        let path = folder.path("a\nphoto.png")
        try Data(bytes).write(to: URL(filePath: path))
        var options = PeerFirmwareOptions()
        options.send(try PeerImageFile(path: path))
        #expect(options.image == bytes)
        #expect(options.imageName == "a_photo.png")
    }

    @Test func `A file that is missing, too large or not a PNG is refused`() throws {
        let folder = TemporaryFolder()
        let large = PeerPicture.signature + [UInt8](repeating: 0, count: PeerFirmwareOptions.largestImage)
        let path = folder.path("image")
        let flawed: [([UInt8], DeviceFileError.Code)] = [
            (Array("GIF".utf8), .notPNG), (large, .tooLarge(limit: PeerFirmwareOptions.largestImage)),
        ]
        for (bytes, code) in flawed {
            try Data(bytes).write(to: URL(filePath: path))
            #expect(throws: DeviceFileError(code, path: path)) { try PeerImageFile(path: path) }
        }
        let nothing = folder.path("none")
        #expect(throws: DeviceFileError(.unreadable(errno: ENOENT), path: nothing)) {
            try PeerImageFile(path: nothing)
        }
    }
}
