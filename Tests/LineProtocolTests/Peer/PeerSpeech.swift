import Foundation
import TestSupport
import LineProtocol

/// What a peer says, for tests to make out of it what they want.
enum PeerSpeech {
    /// The lines of an image, whole and right, each of so many base64 characters.
    static func image(_ data: [UInt8], name: String = "a.png", chunkLength: Int = 180) -> [String] {
        ["IMG_BEGIN \(name) \(data.count)"] + base64(data, chunkLength: chunkLength) + ["IMG_END"]
    }

    static func base64(_ data: [UInt8], chunkLength: Int = 180) -> [String] {
        let text = Array(Data(data).base64EncodedString().utf8)
        return stride(from: 0, to: text.count, by: chunkLength).map { start in
            String(decoding: text[start..<min(start + chunkLength, text.count)], as: UTF8.self)
        }
    }

    /// Bytes of every kind.
    static func data(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}

extension PeerPiece {
    /// Text that came whole.
    static func text(_ text: String) -> PeerPiece { .text(PeerText(Array(text.utf8))) }
}

extension [PeerPiece] {
    /// With the neighbours joined that only the carrier has parted.
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

    /// All bytes of images.
    var imageData: [UInt8] {
        reduce(into: []) { data, piece in if case .imageData(let bytes) = piece { data += bytes } }
    }

    /// What failed.
    var failures: [PeerImageError] { compactMap { if case .imageFailed(let error) = $0 { error } else { nil } } }
}

/// What a decoder makes out of lines that come in one piece.
func decode(lines: [String]) -> [PeerPiece] {
    var decoder = PeerDecoder(keepsPacketBounds: false)
    return decoder.append(Array(lines.map { $0 + "\r\n" }.joined().utf8)).joined
}

/// What a decoder makes out of packets.
func decode(packets: [String]) -> [PeerPiece] {
    var decoder = PeerDecoder(keepsPacketBounds: true)
    var pieces: [PeerPiece] = []
    for packet in packets { pieces += decoder.append(Array(packet.utf8)) }
    return pieces.joined
}
