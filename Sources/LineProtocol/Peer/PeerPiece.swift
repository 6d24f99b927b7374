/// A piece of a peer's output.
public enum PeerPiece: Sendable, Hashable {
    /// `HELLO from <host> @ <time>`.
    case greeting(PeerGreeting)
    /// `Hello ack`: the peer has read a `Hello` of a host, so it listens. The published peer does not send this.
    case acknowledgement
    /// `ON` or `OFF`, in any letter case; true for `ON`. The protocol defines these words for the central only, but
    /// `pumpctl peer host`, which plays a peer, sends them too.
    case toggle(Bool)
    /// A message for people. It may come within an image.
    case text(PeerText)
    /// The announcement of an image: its name and size.
    case imageBegins(PeerImage)
    /// The next bytes of the image, decoded.
    case imageData([UInt8])
    /// The end of an image that is complete and has the announced size.
    case imageEnds
    /// The image is rejected. Base64 that comes before the end of the image follows as ``leftOut(_:)``.
    case imageFailed(PeerImageError)
    /// `IMG_ERROR <reason>`: the peer sends no image, or stops sending it.
    case imageRefused(reason: String)
    /// Base64 of a rejected image, unchanged.
    case leftOut([UInt8])
}

/// A peer's text, or bytes that are not text.
public struct PeerText: Sendable, Hashable {
    /// The number of characters at the beginning of a message that are shown to people, by the peer protocol. The rest
    /// of a longer message is not shown.
    public static let shownCharacters = 500

    /// The bytes, without a line end.
    public var bytes: [UInt8]
    /// Whether this text continues a message that is longer than ``PeerDecoder/lineLimit``, and whose beginning was
    /// delivered before.
    public var isContinuation: Bool
    /// Whether the message goes on in the next text, or was cut off by the end of input.
    public var isCut: Bool

    /// Creates a text. The defaults make it a complete message.
    public init(_ bytes: [UInt8], isContinuation: Bool = false, isCut: Bool = false) {
        self.bytes = bytes
        self.isContinuation = isContinuation
        self.isCut = isCut
    }

    /// The text; nil if the bytes are not UTF-8. Programs show such bytes in hexadecimal.
    public var string: String? { String(validating: bytes, as: UTF8.self) }
}
