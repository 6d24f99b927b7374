import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("The text and image peer")
struct PeerFirmwareTests {
    private static func peer(
        size: Int = 1000, fault: PeerFirmwareOptions.ImageFault? = nil, chunkLength: Int = 180,
        interval: Duration? = nil, carrier: PeerFirmwareOptions.Carrier = .line(.unlimited), acknowledges: Bool = false
    ) -> PeerFirmware {
        PeerFirmware(
            options: PeerFirmwareOptions(
                carrier: carrier, name: "bench", startTime: 1_738_339_445, seed: 7, imageByteCount: size,
                imageFault: fault, chunkLength: chunkLength, interval: interval, acknowledges: acknowledges))
    }

    /// The lines of a valid image of ``peer(size:fault:chunkLength:interval:carrier:acknowledges:)``.
    private static func imageLines(_ size: Int, chunkLength: Int = 180) -> [String] {
        let text = Array(Data(PeerPicture(seed: 7, byteCount: size).bytes).base64EncodedString().utf8)
        let chunks = stride(from: 0, to: text.count, by: chunkLength).map { start in
            String(decoding: text[start..<min(start + chunkLength, text.count)], as: UTF8.self)
        }
        return ["IMG_BEGIN image.png \(size)"] + chunks + ["IMG_END"]
    }

    /// Returns a peer's reply to `text` in lines.
    private static func lines(_ peer: inout PeerFirmware, to text: String) -> [String] {
        peer.receive(Array(text.utf8), at: .zero)
        return heard(peer.advance(to: .seconds(60))).split(separator: "\r\n").map(String.init)
    }

    @Test("A peer greets each host with its name and time")
    func greeting() {
        var peer = Self.peer()
        #expect(heard(peer.advance(to: .seconds(1))) == "")
        peer.hostCame(at: .seconds(40))
        #expect(heard(peer.advance(to: .seconds(41))) == "HELLO from bench @ 2025-01-31T16:04:45Z\r\n")
    }

    @Test(
        "The greeting has the correct date and time, also around leap days",
        arguments: [0, 68_169_599, 951_782_400, 1_709_164_800, 4_107_542_399])
    func times(start: Int) {
        var peer = PeerFirmware(options: PeerFirmwareOptions(carrier: .line(.unlimited), startTime: start))
        peer.hostCame(at: .zero)
        let expected = Date(timeIntervalSince1970: Double(start)).ISO8601Format()
        #expect(heard(peer.advance(to: .zero)) == "HELLO from QDevice1 @ \(expected)\r\n")
    }

    @Test("By default a peer acknowledges nothing, not even Hello")
    func silence() {
        var peer = Self.peer()
        let greetings = "Hello\r\nHELLO from Central @ 2025-01-31T16:04:05Z\n"
        #expect(Self.lines(&peer, to: greetings + "on\nGrüße\n") == [])
        #expect(peer.isOn)
        #expect(peer.messages == [Array("Grüße".utf8)])
    }

    @Test("With acknowledgements a peer answers Hello; it also follows ON and OFF, and keeps the last messages")
    func text() {
        var peer = Self.peer(acknowledges: true)
        #expect(Self.lines(&peer, to: "Hello\r\non\nHello\nGrüße\nhello\n\n") == ["Hello ack", "Hello ack"])
        #expect(peer.isOn)
        #expect(peer.messages.map { String(decoding: $0, as: UTF8.self) } == ["Grüße", "hello"])
        _ = Self.lines(&peer, to: "Off\n" + String(repeating: "x\n", count: 200))
        #expect(!peer.isOn)
        #expect(peer.messages.count == PeerFirmware.keptMessages)
    }

    @Test("An image is a begin line, base64 lines and an end line", arguments: [128, 129, 130, 5000], [180, 76, 1])
    func image(size: Int, chunkLength: Int) {
        for command in ["GET\n", "GET_IMAGE\r\n", "get\n", "  Get_Image \r\n"] {
            var peer = Self.peer(size: size, chunkLength: chunkLength)
            #expect(Self.lines(&peer, to: command) == Self.imageLines(size, chunkLength: chunkLength))
            #expect(peer.isQuiescent)
        }
    }

    @Test("Other output comes between two image lines, and a second image follows the first")
    func interleaved() {
        var peer = Self.peer(
            size: 20_000, interval: .milliseconds(100), carrier: .line(.baud(115_200)), acknowledges: true)
        peer.receive(Array("GET\nGET\n".utf8), at: .zero)
        _ = peer.advance(to: .milliseconds(50))
        peer.receive(Array("Hello\n".utf8), at: .milliseconds(50))
        let lines = heard(peer.advance(to: .seconds(10))).split(separator: "\r\n").map(String.init)
        let ofImage = lines.filter { $0 != "Hello ack" && !PeerFirmware.stock.contains($0) }
        let expected = Self.imageLines(20_000)
        // The first image's beginning was emitted in the first 50 ms, which are discarded above.
        #expect(ofImage.suffix(expected.count) == expected[...])
        #expect(ofImage.dropLast(expected.count).last == "IMG_END")
        #expect(lines.firstIndex(of: "Hello ack")! < lines.firstIndex(of: "IMG_END")!)
        #expect(lines.count - ofImage.count > 90)
    }

    @Test(
        "If the peer has no PNG to send, it sends an error line instead of an image",
        arguments: [
            (.noFileSelected, ["IMG_ERROR no_file_selected"]), (.notPNG, ["IMG_ERROR not_png"]),
        ] as [(PeerFirmwareOptions.ImageFault, [String])])
    func refused(fault: PeerFirmwareOptions.ImageFault, lines: [String]) {
        var peer = Self.peer(fault: fault)
        #expect(Self.lines(&peer, to: "GET\n") == lines)
    }

    @Test("An image fault shows in the affected lines")
    func faults() {
        let right = Self.imageLines(1000)
        func lines(_ fault: PeerFirmwareOptions.ImageFault) -> [String] {
            var peer = Self.peer(fault: fault)
            defer { #expect(peer.isQuiescent) }
            return Self.lines(&peer, to: "GET\n")
        }
        // `beginBadFormat` hits the first line. The other faults here hit the middle of the base64 text, which is in
        // its fourth line.
        let (start, rest) = (Array(right[..<4]), Array(right[5...]))
        #expect(lines(.beginBadFormat) == ["IMG_BEGIN image.png"] + right[1...])
        #expect(lines(.readFailed) == start + ["IMG_ERROR read_failed"])
        #expect(lines(.stalls) == start)
        #expect(lines(.sizeMismatch) == start + rest)
        // The middle is at character 668 of 1336. The fourth line begins at character 540, so it is character 128
        // there.
        let padded = "\(right[4].prefix(128))=\(right[4].dropFirst(129))"
        #expect(lines(.base64Invalid) == start + [padded] + rest)
    }

    @Test(
        "A lenient base64 decoder rejects base64_invalid, and decodes a smaller image from size_mismatch",
        arguments: [180, 77, 1])
    func decoderOfApp(chunkLength: Int) {
        func decoded(_ fault: PeerFirmwareOptions.ImageFault?) -> Data? {
            var peer = Self.peer(fault: fault, chunkLength: chunkLength)
            let chunks = Self.lines(&peer, to: "GET\n").dropFirst().dropLast()
            return Data(base64Encoded: chunks.joined(), options: .ignoreUnknownCharacters)
        }
        #expect(decoded(nil)?.count == 1000)
        #expect(decoded(.base64Invalid) == nil)
        // Without a line of 180 characters, the rest is still in whole groups of four characters.
        if chunkLength == 180 { #expect(decoded(.sizeMismatch)?.count == 865) }
    }

    @Test("An image that is too large announces its size")
    func tooLarge() {
        var peer = Self.peer(fault: .tooLarge)
        peer.receive(Array("GET\n".utf8), at: .zero)
        let size = PeerFirmwareOptions.largestImage + 1
        #expect(heard(peer.advance(to: .zero)).hasPrefix("IMG_BEGIN image.png \(size)\r\n"))
    }

    @Test("Each notification and each write is a message without a line end")
    func notifications() {
        var peer = Self.peer(carrier: .notifications, acknowledges: true)
        peer.hostCame(at: .zero)
        for write in ["Hello", "two\nlines", "GET"] { peer.receive(Array(write.utf8), at: .zero) }
        let notifications = peer.advance(to: .seconds(1)).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(notifications == ["HELLO from bench @ 2025-01-31T16:04:05Z", "Hello ack"] + Self.imageLines(1000))
        #expect(peer.messages == [Array("two\nlines".utf8)])
        #expect(peer.isQuiescent)
    }

    @Test("An image is produced block by block")
    func blocks() throws {
        for carrier in [.notifications, .line(.unlimited)] as [PeerFirmwareOptions.Carrier] {
            var peer = Self.peer(size: 100_000, carrier: carrier)
            peer.receive(Array("GET".utf8) + (carrier == .notifications ? [] : [0x0A]), at: .zero)
            while let next = peer.nextActivity {
                let count = peer.advance(to: next).map(\.bytes.count).reduce(0, +)
                // A line has at most 180 characters, and CR LF on a serial line.
                #expect(count <= PeerFirmware.blockLength * 182)
            }
        }
    }

    @Test("An image takes the time of its bytes on the line")
    func pace() throws {
        var peer = Self.peer(size: 10_000, carrier: .line(.baud(115_200)))
        peer.receive(Array("GET\n".utf8), at: .zero)
        let emissions = peer.advance(to: .seconds(60))
        let count = emissions.map(\.bytes.count).reduce(0, +)
        let end = try #require(emissions.last?.time)
        // The 4 bytes of the command take time too. A byte has ten bits.
        let least = Duration.seconds(10) * (count + 4) / 115_200
        #expect(end >= least - .milliseconds(1))
        #expect(end < least + .milliseconds(10))
    }

    @Test("A reset drops pending output and received messages")
    func reset() {
        var peer = Self.peer(size: 10_000, carrier: .line(.baud(115_200)))
        peer.receive(Array("ON\nx\nGET\nGET\n".utf8), at: .zero)
        _ = peer.advance(to: .milliseconds(100))
        peer.reset(at: .milliseconds(100))
        #expect(heard(peer.advance(to: .seconds(10))) == "")
        #expect(!peer.isOn && peer.messages.isEmpty)
    }
}

@Suite("A peer's picture")
struct PeerPictureTests {
    /// A Python program that checks PNG files. For each it prints the size in bytes, the width, and the height.
    private static let reader = """
        import struct, sys, zlib
        for path in sys.argv[1:]:
            data = open(path, 'rb').read()
            assert data[:8] == b'\\x89PNG\\r\\n\\x1a\\n'
            at, chunks = 8, []
            while at < len(data):
                length, kind = struct.unpack('>I4s', data[at:at + 8])
                body = data[at + 8:at + 8 + length]
                assert len(body) == length
                assert struct.unpack('>I', data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
                chunks.append((kind, body)); at += 12 + length
            assert [kind for kind, _ in chunks] == [b'IHDR', b'tEXt', b'IDAT', b'IEND']
            width, height, depth, colour = struct.unpack('>IIBB', chunks[0][1][:10])
            raw = zlib.decompress(chunks[2][1])
            assert (depth, colour) == (8, 2) and len(raw) == height * (1 + 3 * width)
            assert all(raw[row * (1 + 3 * width)] == 0 for row in range(height))
            print(len(data), width, height)
        """

    @Test("A picture is a PNG of exactly the requested size")
    func isPNG() async throws {
        let folder = TemporaryFolder()
        // The smallest sizes, and sizes with one, two and three blocks of at most 65,535 bytes in the zlib stream.
        let sizes = Array(128...140) + [1000, 65_700, 140_000]
        let paths = sizes.map { folder.path("\($0)") }
        for (size, path) in zip(sizes, paths) {
            let picture = PeerPicture(seed: UInt64(size), byteCount: size)
            try Data(picture.bytes).write(to: URL(filePath: path))
        }
        let ending = try await ChildProcess(["python3", "-c", Self.reader] + paths).ending()
        #expect(ending.status == 0, "\(ending)")
        let read = ending.output.split(separator: "\n").map { Int($0.prefix { $0 != " " }) }
        #expect(read == sizes)
    }

    @Test("The same seed gives the same picture, and another seed another one")
    func seeds() {
        #expect(PeerPicture(seed: 1, byteCount: 500) == PeerPicture(seed: 1, byteCount: 500))
        #expect(PeerPicture(seed: 1, byteCount: 500) != PeerPicture(seed: 2, byteCount: 500))
        #expect(PeerPicture(seed: 1, byteCount: 1).bytes.count == PeerPicture.leastByteCount)
    }
}

/// The emitted bytes as text.
private func heard(_ emissions: [Emission]) -> String {
    String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
}
