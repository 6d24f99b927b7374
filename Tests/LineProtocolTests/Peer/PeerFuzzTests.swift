import Foundation
import LineProtocol
import TestSupport
import Testing

@Suite("Faulty peers")
struct PeerFuzzTests {
    @Test(
        "No text of faulty input is lost, and the pieces are the same wherever it is split",
        arguments: Array(Seeds(20, soak: 2_000)))
    func isAccountedFor(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var bytes: [UInt8] = []
        while bytes.count < 20_000 { bytes += Self.burst(&random) }

        var whole = PeerDecoder(keepsPacketBounds: false)
        let expected = (whole.append(bytes) + whole.finish()).joined
        var decoder = PeerDecoder(keepsPacketBounds: false)
        var pieces: [PeerPiece] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.number(below: random.number(below: 2) == 0 ? 4 : 600))
            pieces += decoder.append(Array(bytes[start..<end]))
            start = end
        }
        pieces = (pieces + decoder.finish()).joined
        #expect(pieces == expected, "seed \(seed)")

        let lines = FramedLine.lines(of: bytes).map(\.withoutNULs)
        #expect(Self.texts(of: pieces) == Self.texts(of: lines), "seed \(seed)")
        Self.checkImages(pieces, seed)
        #expect(Self.base64Length(pieces) <= lines.reduce(0) { $0 + $1.count })
    }

    /// The lines that can only be text. They must come out as text, complete and in order.
    private static func texts(of lines: [[UInt8]]) -> [[UInt8]] { lines.filter { isSurelyText($0) } }

    private static func texts(of pieces: [PeerPiece]) -> [[UInt8]] {
        pieces.compactMap { if case .text(let text) = $0, isSurelyText(text.bytes) { text.bytes } else { nil } }
    }

    /// Whether a line can only be text: it has no prefix of the protocol, and a character that base64 does not use.
    private static func isSurelyText(_ line: [UInt8]) -> Bool {
        let known = ["IMG_", "HELLO", "Hello"].contains { line.starts(with: $0.utf8) }
        return !known
            && line.contains { !("+/=".utf8.contains($0) || Character(UnicodeScalar($0)).isASCIILetterOrDigit) }
    }

    /// Checks that each image that begins has one end, and that a complete image has the announced size.
    private static func checkImages(_ pieces: [PeerPiece], _ seed: UInt64) {
        var open: PeerImage?
        var count = 0
        for piece in pieces {
            switch piece {
            case .imageBegins(let image):
                #expect(open == nil, "seed \(seed): \(image) begins within another")
                open = image
                count = 0
            case .imageData(let bytes):
                #expect(open != nil, "seed \(seed): bytes of no image")
                count += bytes.count
            case .imageEnds:
                #expect(open?.byteCount == count, "seed \(seed)")
                open = nil
            case .imageFailed, .imageRefused: open = nil
            default: break
            }
        }
        #expect(open == nil, "seed \(seed): an image has no end")
    }

    /// The least number of base64 characters that the pieces account for, as image data or as ignored characters.
    private static func base64Length(_ pieces: [PeerPiece]) -> Int {
        pieces.reduce(0) { count, piece in
            switch piece {
            case .imageData(let bytes): count + bytes.count / 3 * 4
            case .leftOut(let characters): count + characters.count
            default: count
            }
        }
    }

    /// The lines of an image, up to two of them changed, and each with a random line end.
    private static func burst(_ random: inout SplitMix64) -> [UInt8] {
        let data = PeerSpeech.data(random.number(below: 900), seed: random.next())
        var lines = PeerSpeech.image(data, chunkLength: 1 + random.number(below: 180)).map { Array($0.utf8) }
        let words = [
            "Hello ack", "ON", "off", "Hello", "good morning", "Grüße ☂", "IMG_END", "IMG_ERROR not_png", "IMG_BEGIN",
            "IMG_BEGIN x y", "IMG_BEGIN a 9999999", "HELLO from a @ b", "====", "AAAA", "",
        ]
        for _ in 0..<random.number(below: 3) {
            let index = random.number(below: lines.count)
            switch random.number(below: 5) {
            case 0: lines.remove(at: index)
            case 1: lines.insert(Array(words[random.number(below: words.count)].utf8), at: index)
            case 2 where !lines[index].isEmpty:
                lines[index][random.number(below: lines[index].count)] = UInt8(truncatingIfNeeded: random.next())
            case 3: lines.insert(PeerSpeech.data(random.number(below: 100), seed: random.next()), at: index)
            default: lines[index] += lines[index]
            }
            if lines.isEmpty { break }
        }
        let ends = [[0x0A], [0x0D], [0x0D, 0x0A]] as [[UInt8]]
        return Array(lines.map { $0 + ends[random.number(below: 3)] }.joined())
    }
}

extension Character {
    fileprivate var isASCIILetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}

extension FramedLine {
    /// The non-empty lines of a stream received in one piece, and the text after the last line end.
    fileprivate static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        var framer = LineFramer(limit: PeerDecoder.lineLimit)
        return (framer.lines(from: bytes).map(\.bytes) + [framer.pending]).filter { !$0.isEmpty }
    }
}
