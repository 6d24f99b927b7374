/// Decodes the output of a peer, including images, into pieces. An image of any size takes no more memory than a line.
///
///     var decoder = PeerDecoder(keepsPacketBounds: link.keepsPacketBounds)
///     for piece in decoder.append(bytes) { … }
///
/// Within an image, a line of base64 characters belongs to the image, and any other line has its usual meaning. `ON`
/// and `OFF` consist of base64 characters: they count as toggles unless their length equals the number of characters
/// that the image still lacks, or the length of the previous line of the image. Any other message that consists of
/// base64 characters only, such as a single word, is taken for a part of the image: the image then has the wrong size,
/// and is rejected.
public struct PeerDecoder: Sendable {
    /// The largest number of base64 characters in an image, by the peer protocol.
    public static let characterLimit = 7_000_000
    /// The longest line in bytes that is delivered in one piece. It is enough for ``PeerText/shownCharacters``
    /// characters, of up to four bytes each, and more.
    public static let lineLimit = 4096

    private let keepsPacketBounds: Bool
    private var framer = LineFramer(limit: lineLimit)
    private var interpreter = PeerInterpreter()

    /// Creates a decoder for a link. If the link keeps packet bounds, each packet counts as a line.
    public init(keepsPacketBounds: Bool) { self.keepsPacketBounds = keepsPacketBounds }

    /// Takes received bytes, and returns the pieces that they complete.
    public mutating func append(_ bytes: [UInt8]) -> [PeerPiece] {
        guard !keepsPacketBounds else { return interpreter.take(bytes.withoutNULs.withoutLineEnd, .lineFeed) }
        var pieces: [PeerPiece] = []
        var interpreter = interpreter
        framer.append(bytes.span) { line, ending in
            pieces += interpreter.take(line.withUnsafeBufferPointer { Array($0) }, ending)
        }
        self.interpreter = interpreter
        return pieces
    }

    /// Returns the last pieces at the end of input: a line without its end, as text, and the end or the failure of an
    /// image whose `IMG_END` has not come.
    public mutating func finish() -> [PeerPiece] {
        defer { self = PeerDecoder(keepsPacketBounds: keepsPacketBounds) }
        return interpreter.finish(framer.pending)
    }
}

extension [UInt8] {
    /// The bytes without `\n` and `\r` at the end.
    fileprivate var withoutLineEnd: [UInt8] {
        Array(prefix(through: (lastIndex { $0 != .lineFeed && $0 != .carriageReturn }) ?? -1))
    }
}
