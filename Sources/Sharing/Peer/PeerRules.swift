internal import LineProtocol

/// The sharing rules of a text and image peer: an image goes to the client that sent `GET` or `GET_IMAGE`. Greetings,
/// acknowledgements, toggles and text go to all clients, also during an image.
///
/// Texts and toggles of clients are sent at once, also during an image: the peer accepts them at any time.
///
/// On a packet link, clients see each packet as one line, with blanks in place of line ends, and each client line is
/// sent as one packet. The link refuses a line that exceeds a packet, as two packets would be two messages.
struct PeerRules: StreamRules {
    /// Chosen longer than the default time limit of hosts, 3 s.
    static let timing = StreamTiming(timeout: .seconds(10), quiet: .seconds(10))

    private let keepsPacketBounds: Bool
    private var framer = LineFramer(limit: PeerDecoder.lineLimit)
    /// Tells image data from text while an image is expected; nil otherwise. Each line is decoded as a packet.
    private var decoder: PeerDecoder?
    /// Whether the current line, of which only a part has arrived, belongs to an image; nil between lines.
    private var isAmidImageLine: Bool?

    init(keepsPacketBounds: Bool) { self.keepsPacketBounds = keepsPacketBounds }

    func request(_ line: [UInt8]) -> StreamRequest {
        let words = line.split(separator: UInt8(ascii: " "))
        let isAsking = words.count == 1 && Self.asking.contains(String(decoding: words[0], as: UTF8.self).uppercased())
        return StreamRequest(bytes: line + (keepsPacketBounds ? [] : [0x0A]), isAnswered: isAsking)
    }

    /// The lines that request an image, in any letter case.
    private static let asking: Set<String> = ["GET", "GET_IMAGE"]

    mutating func begin(packetCapacity: Int?) { decoder = PeerDecoder(keepsPacketBounds: true) }

    mutating func take(_ bytes: [UInt8]) -> [StreamPiece] {
        guard !keepsPacketBounds else { return line(bytes.asLine, isCut: false) }
        var lines: [(bytes: [UInt8], isCut: Bool)] = []
        framer.append(bytes.span) { line, ending in
            lines.append((line.withUnsafeBufferPointer { Array($0) }.withoutNULs, ending == .cut))
        }
        return lines.flatMap { line($0.bytes, isCut: $0.isCut) }
    }

    mutating func finish() -> [StreamPiece] {
        decoder = nil
        return []
    }

    /// Converts a line, or a part of one.
    private mutating func line(_ line: [UInt8], isCut: Bool) -> [StreamPiece] {
        if line.isEmpty, isAmidImageLine == nil { return [] }
        let pieces = decoder?.append(line)
        let isOfImage = isAmidImageLine ?? isOfImage(line, pieces)
        isAmidImageLine = isCut ? isOfImage : nil
        let bytes = line + (isCut ? [] : .lineEnd)
        guard isOfImage else { return [.forAll(bytes)] }
        return [.forAsker(bytes)] + (pieces.map { endsImage(line, $0) } == true ? endAnswer() : [])
    }

    /// Returns whether a line belongs to the expected image, or is the rest of an earlier one.
    ///
    /// - Parameter pieces: The decoder's result for the line; nil if no image is expected.
    private func isOfImage(_ line: [UInt8], _ pieces: [PeerPiece]?) -> Bool {
        guard let pieces else { return line.starts(with: "IMG_".utf8) || PeerImageDownload.isStray(line) }
        return pieces.allSatisfy { piece in
            switch piece {
            case .imageBegins, .imageData, .imageEnds, .imageFailed, .imageRefused, .leftOut: true
            case .text(let text): PeerImageDownload.isStray(text.bytes)
            case .greeting, .acknowledgement, .toggle: false
            }
        }
    }

    private func endsImage(_ line: [UInt8], _ pieces: [PeerPiece]) -> Bool {
        for case .imageRefused in pieces { return true }
        // An `IMG_END` without a beginning belongs to an earlier image.
        for case .text in pieces { return false }
        return line == Array("IMG_END".utf8)
    }

    private mutating func endAnswer() -> [StreamPiece] {
        decoder = nil
        return [.answerEnds]
    }
}

extension [UInt8] {
    /// The packet as one line, without a line end.
    fileprivate var asLine: [UInt8] {
        let line = withoutNULs
        let end = (line.lastIndex { !$0.isLineEnd } ?? -1) + 1
        return line[..<end].map { $0.isLineEnd ? UInt8(ascii: " ") : $0 }
    }
}

extension UInt8 {
    fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}
