/// Tells what a peer says apart, and decodes images as they come: an image of any size takes no more memory than a line.
///
///     var decoder = PeerDecoder(keepsPacketBounds: link.keepsPacketBounds)
///     for piece in decoder.append(bytes) { … }
///
/// Within an image a line of base64 characters is of the image, and any other is what it is elsewhere. `ON` and `OFF` are
/// base64 characters as well: they are toggles unless they complete the image, or its lines are as short. A message of one
/// other word can't be told from base64; the image is then not of its size, and not taken.
public struct PeerDecoder: Sendable {
    /// The most base64 characters that an image may take.
    public static let characterLimit = 7_000_000
    /// The longest line in bytes that is handed out in one piece: at least four times what is shown of a message.
    public static let lineLimit = 4096

    private let keepsPacketBounds: Bool
    private var framer = LineFramer(limit: lineLimit)
    private var interpreter = PeerInterpreter()

    /// A decoder of what arrives on a link: where it keeps packet bounds, each packet is what a line is elsewhere.
    public init(keepsPacketBounds: Bool) { self.keepsPacketBounds = keepsPacketBounds }

    /// Takes in what arrived; the pieces that this makes out.
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

    /// What was begun, now that nothing follows: a line without its end, and an image that lacks its end.
    public mutating func finish() -> [PeerPiece] {
        defer { self = PeerDecoder(keepsPacketBounds: keepsPacketBounds) }
        return interpreter.finish(framer.pending)
    }
}

extension [UInt8] {
    /// Without the `\n` and `\r` at its end.
    fileprivate var withoutLineEnd: [UInt8] {
        Array(prefix(through: (lastIndex { $0 != .lineFeed && $0 != .carriageReturn }) ?? -1))
    }
}
