import Foundation
import TestSupport
import LineProtocol

/// Builds a peer's output for tests.
enum PeerSpeech {
    /// The lines of a complete and valid image, with `chunkLength` base64 characters each.
    static func image(_ data: [UInt8], name: String = "a.png", chunkLength: Int = 180) -> [String] {
        ["IMG_BEGIN \(name) \(data.count)"] + base64(data, chunkLength: chunkLength) + ["IMG_END"]
    }

    static func base64(_ data: [UInt8], chunkLength: Int = 180) -> [String] {
        let text = Array(Data(data).base64EncodedString().utf8)
        return stride(from: 0, to: text.count, by: chunkLength).map { start in
            String(decoding: text[start..<min(start + chunkLength, text.count)], as: UTF8.self)
        }
    }

    /// Random bytes.
    static func data(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}

extension PeerPiece {
    /// A complete text.
    static func text(_ text: String) -> PeerPiece { .text(PeerText(Array(text.utf8))) }
}

extension [PeerPiece] {
    /// The pieces, with adjacent pieces of image data joined, and adjacent pieces of ignored base64. Only the carrier
    /// has separated them.
    var joined: [PeerPiece] {
        reduce(into: []) { pieces, piece in
            switch (pieces.last, piece) {
            case (.imageData(let first)?, .imageData(let second)):
                pieces[pieces.count - 1] = .imageData(first + second)
            case (.leftOut(let first)?, .leftOut(let second)): pieces[pieces.count - 1] = .leftOut(first + second)
            default: pieces.append(piece)
            }
        }
    }

    /// The bytes of all images.
    var imageData: [UInt8] {
        reduce(into: []) { data, piece in if case .imageData(let bytes) = piece { data += bytes } }
    }

    /// The errors of failed images.
    var failures: [PeerImageError] { compactMap { if case .imageFailed(let error) = $0 { error } else { nil } } }
}

/// Decodes lines that arrive in one chunk.
func decode(lines: [String]) -> [PeerPiece] {
    var decoder = PeerDecoder(keepsPacketBounds: false)
    return decoder.append(Array(lines.map { $0 + "\r\n" }.joined().utf8)).joined
}

/// Decodes packets, each without a line end unless its text has one.
func decode(packets: [String]) -> [PeerPiece] {
    var decoder = PeerDecoder(keepsPacketBounds: true)
    var pieces: [PeerPiece] = []
    for packet in packets { pieces += decoder.append(Array(packet.utf8)) }
    return pieces.joined
}
