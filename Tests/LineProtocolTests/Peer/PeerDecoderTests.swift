import LineProtocol
import Testing

@Suite struct PeerDecoderTests {
    @Test func `A greeting has the sender's name and time`() throws {
        let pieces = decode(lines: ["HELLO from bench @ home @ 2025-01-31T16:04:05Z"])
        guard case .greeting(let greeting)? = pieces.first else {
            Issue.record("\(pieces)")
            return
        }
        #expect(greeting.host == "bench @ home")
        #expect(greeting.time == "2025-01-31T16:04:05Z")
    }

    @Test(
        arguments: [
            "HELLO", "HELLO from", "HELLO from  @ x", "HELLO from a @", "HELLO from a @ ", "HELLO from a@b",
            "hello from a @ b", "HELLO ack", "Hello ack ", "ONE", "IMG_", "IMG_END", "IMG_END ", "IMG_BEGINNER 1 2",
            "IMG_ERRORS", "xIMG_ERROR not_png", "iVBORw0KGgo=",
        ])
    func `A line that only resembles a command, or belongs to an image that has not begun, is text`(line: String) {
        #expect(decode(lines: [line]) == [.text(line)])
        #expect(decode(packets: [line]) == [.text(line)])
    }

    @Test(arguments: [("ON", true), ("on", true), ("oN", true), ("OFF", false), ("Off", false)])
    func `A toggle is recognized in any case`(line: String, isOn: Bool) {
        #expect(decode(lines: [line]) == [.toggle(isOn)])
        #expect(decode(packets: [line]) == [.toggle(isOn)])
    }

    @Test func `An acknowledgement and the sender's errors are recognized`() {
        #expect(decode(lines: ["Hello ack"]) == [.acknowledgement])
        for reason in ["no_file_selected", "not_png", "read_failed", "on fire today", ""] {
            #expect(decode(lines: ["IMG_ERROR \(reason)"]) == [.imageRefused(reason: reason)])
        }
        #expect(decode(lines: ["IMG_ERROR"]) == [.imageRefused(reason: "")])
    }

    @Test func `Text that is not UTF-8 has no string`() {
        var decoder = PeerDecoder(keepsPacketBounds: false)
        let bytes: [UInt8] = [0xFF, 0x00, 0x41]
        #expect(decoder.append(bytes + [0x0A]) == [.text(PeerText(bytes))])
        #expect(PeerText(bytes).string == nil)
        #expect(PeerText(Array("Grüße".utf8)).string == "Grüße")
    }

    @Test func `NULs around a line or at the end of a packet are ignored`() {
        let said = ["Hello ack", "ON", "IMG_BEGIN a 3", "QUJD", "IMG_END", "a\0b"]
        let pieces: [PeerPiece] = [
            .acknowledgement, .toggle(true), .imageBegins(PeerImage(name: "a", byteCount: 3)),
            .imageData(Array("ABC".utf8)), .imageEnds, .text("a\0b"),
        ]
        #expect(decode(packets: said.map { $0 + "\0" }) == pieces)
        #expect(decode(packets: said.map { $0 + "\r\n\0" }) == pieces)
        var decoder = PeerDecoder(keepsPacketBounds: false)
        let lines = decoder.append(Array(said.map { $0 + "\r\n\0" }.joined().utf8))
        #expect(lines == pieces && decoder.finish().isEmpty)
    }

    // MARK: Images

    /// 135 bytes fill one line of 180 base64 characters.
    @Test(arguments: [0, 1, 2, 3, 4, 134, 135, 136, 1500], [1, 2, 3, 4, 76, 179, 180])
    func `An image is decoded exactly, whatever its line length`(count: Int, chunkLength: Int) {
        let data = PeerSpeech.data(count)
        let speech = PeerSpeech.image(data, name: "my photo.png", chunkLength: chunkLength)
        var pieces: [PeerPiece] = [.imageBegins(PeerImage(name: "my photo.png", byteCount: count))]
        if count > 0 { pieces.append(.imageData(data)) }
        #expect(decode(lines: speech) == pieces + [.imageEnds])
        #expect(decode(packets: speech) == pieces + [.imageEnds])
    }

    @Test func `A stream can be split anywhere`() {
        let data = PeerSpeech.data(300)
        let speech = ["Hello ack"] + PeerSpeech.image(data) + ["ON", "Grüße", "IMG_ERROR not_png"]
        let expected = decode(lines: speech)
        let bytes = Array(speech.map { $0 + "\r\n" }.joined().utf8)
        for cut in 0...bytes.count {
            var decoder = PeerDecoder(keepsPacketBounds: false)
            #expect((decoder.append(Array(bytes[..<cut])) + decoder.append(Array(bytes[cut...]))).joined == expected)
        }
        var decoder = PeerDecoder(keepsPacketBounds: false)
        var pieces: [PeerPiece] = []
        for byte in bytes { pieces += decoder.append([byte]) }
        #expect(pieces.joined == expected)
    }

    @Test func `Text, toggles and acknowledgements within an image are delivered and do not damage it`() {
        let data = PeerSpeech.data(540)
        var speech = PeerSpeech.image(data)
        for (index, line) in ["Hello ack", "OFF", "on", "good morning", "HELLO from a @ b"].enumerated() {
            speech.insert(line, at: 1 + index)
        }
        let pieces = decode(lines: speech)
        #expect(pieces.imageData == data)
        #expect(pieces.last == .imageEnds)
        #expect(pieces.contains(.toggle(false)) && pieces.contains(.toggle(true)))
        #expect(pieces.contains(.text("good morning")) && pieces.contains(.acknowledgement))
    }

    @Test func `An ON line that completes an image belongs to the image`() {
        // "AAON" is 00 03 8D.
        #expect(
            decode(lines: ["IMG_BEGIN a 3", "ON", "AA", "ON", "IMG_END"]) == [
                .imageBegins(PeerImage(name: "a", byteCount: 3)), .toggle(true), .imageData([0, 3, 0x8D]), .imageEnds,
            ])
    }

    // MARK: The receiver's checks

    @Test(
        arguments: [
            "IMG_BEGIN", "IMG_BEGIN ", "IMG_BEGIN a.png", "IMG_BEGIN a.png ", "IMG_BEGIN  12", "IMG_BEGIN 12",
            "IMG_BEGIN a.png x", "IMG_BEGIN a.png -1", "IMG_BEGIN a.png +1", "IMG_BEGIN a.png 1.5",
            "IMG_BEGIN a.png 0x10",
        ])
    func `A begin line without a name or a valid size is begin_bad_format`(line: String) {
        let pieces = decode(lines: [line, "AAAA", "IMG_END", "AAAA"])
        #expect(
            pieces == [
                .imageFailed(PeerImageError(.beginBadFormat, of: nil)), .leftOut(Array("AAAA".utf8)), .text("AAAA"),
            ])
    }

    // The limit is 7,000,000 base64 characters, which hold 5,250,000 bytes.
    @Test(arguments: [5_250_001, 9_999_999, Int.max])
    func `An image that announces too many bytes is too_large at once`(count: Int) {
        let image = PeerImage(name: "a", byteCount: count)
        #expect(
            decode(lines: ["IMG_BEGIN a \(count)", "AAAA", "IMG_END"]) == [
                .imageBegins(image), .imageFailed(PeerImageError(.tooLarge, of: image)), .leftOut(Array("AAAA".utf8)),
            ])
    }

    @Test func `A size that overflows is too_large`() {
        #expect(decode(lines: ["IMG_BEGIN a 99999999999999999999"]).failures.map(\.code) == [.tooLarge])
    }

    @Test func `7,000,000 base64 characters are accepted, one more is too_large`() {
        let line = Array((String(repeating: "A", count: 3500) + "\n").utf8)
        for (announced, rest, failures) in [
            (5_250_000, "IMG_END\n", []), (10, "A\nIMG_END\n", [.tooLarge]),
        ] as [(Int, String, [PeerImageError.Code])] {
            var decoder = PeerDecoder(keepsPacketBounds: false)
            _ = decoder.append(Array("IMG_BEGIN a \(announced)\n".utf8))
            var byteCount = 0
            for _ in 0..<2000 { byteCount += decoder.append(line).imageData.count }
            let pieces = decoder.append(Array(rest.utf8))
            #expect(byteCount == 5_250_000)
            #expect(pieces.failures.map(\.code) == failures)
            #expect(pieces.contains(.imageEnds) == failures.isEmpty)
        }
    }

    @Test(
        arguments: [
            ["AAA"], ["AAAAA"], ["AA=A"], ["=AAA"], ["A==="], ["AAAA", "===="], ["AA==", "AAAA"], ["AAAA", "A", "="],
            ["AAAA", "AA="], ["****"], ["AAAA", "AA!="], ["AA-_"], ["!!!! not base64 !!!!"],
        ])
    func `Invalid base64 is base64_invalid`(chunks: [String]) {
        let pieces = decode(lines: ["IMG_BEGIN a 6"] + chunks + ["IMG_END", "fine"])
        #expect(pieces.failures.map(\.code) == [.base64Invalid])
        #expect(!pieces.contains(.imageEnds))
        #expect(pieces.last == .text("fine"))
    }

    @Test(arguments: [0, 5, 7, 12])
    func `A size other than announced is size_mismatch with both sizes`(count: Int) throws {
        var speech = PeerSpeech.image(PeerSpeech.data(count))
        speech[0] = "IMG_BEGIN a 6"
        let error = try #require(decode(lines: speech).failures.first)
        #expect(error.code == .sizeMismatch)
        #expect(error.byteCount == count)
        #expect(error.image == PeerImage(name: "a", byteCount: 6))
    }

    @Test func `An image without an end line is judged when the next one begins or the sender reports an error`() {
        let data = PeerSpeech.data(10)
        let whole = Array(PeerSpeech.image(data).dropLast())
        let pieces = decode(lines: whole + PeerSpeech.image(data))
        #expect(pieces.filter { $0 == .imageEnds }.count == 2)
        #expect(decode(lines: Array(whole.dropLast()) + PeerSpeech.image(data)).failures.map(\.code) == [.sizeMismatch])
        #expect(
            decode(lines: whole + ["IMG_ERROR read_failed", "AAAA"]).suffix(2) == [
                .imageRefused(reason: "read_failed"), .text("AAAA"),
            ])
    }

    // MARK: Long lines, and ends

    @Test func `A message that is too long is cut between characters`() {
        let text = "x" + String(repeating: "雨", count: 3000)
        let pieces = decode(lines: [text, "ON"])
        let parts = pieces.compactMap { if case .text(let text) = $0 { text } else { nil } }
        #expect(parts.compactMap(\.string).joined() == text)
        #expect(parts.map(\.isContinuation) == [false, true, true])
        #expect(parts.map(\.isCut) == [true, true, false])
        #expect(pieces.last == .toggle(true))
    }

    @Test func `The rest of a cut line is not a command`() {
        let text = String(repeating: " ", count: PeerDecoder.lineLimit) + "IMG_END"
        let pieces = decode(lines: ["IMG_BEGIN a 0", text])
        #expect(pieces.count == 3)
        #expect(!pieces.contains(.imageEnds))
    }

    @Test func `A base64 line of any length belongs to the image`() {
        let data = PeerSpeech.data(10_000)
        #expect(decode(lines: PeerSpeech.image(data, chunkLength: 20_000)).imageData == data)
    }

    @Test func `The end of the link ends an image and a line`() {
        var decoder = PeerDecoder(keepsPacketBounds: false)
        _ = decoder.append(Array("IMG_BEGIN a 6\nAAAA\nAAA".utf8))
        let end = decoder.finish()
        #expect(end.first == .text(PeerText(Array("AAA".utf8), isCut: true)))
        #expect(end.failures.map(\.byteCount) == [3])
        #expect(decoder.append(Array("ON\n".utf8)) == [.toggle(true)])
    }

    @Test func `A packet may end with a line end, and an empty packet is ignored`() {
        #expect(decode(packets: ["ON\r\n", "", "\n", "a\nb\n"]) == [.toggle(true), .text("a\nb")])
    }
}
