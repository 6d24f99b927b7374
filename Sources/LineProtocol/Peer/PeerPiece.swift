/// A piece of what a peer says.
public enum PeerPiece: Sendable, Hashable {
    /// `HELLO from <host> @ <time>`.
    case greeting(PeerGreeting)
    /// `Hello ack`: the peer has heard a `Hello`, and all that was sent before it.
    case acknowledgement
    /// `ON` or `OFF`.
    case toggle(Bool)
    /// A message for people, which may come within an image.
    case text(PeerText)
    /// An image is announced.
    case imageBegins(PeerImage)
    /// The next bytes of the image, decoded.
    case imageData([UInt8])
    /// The image is whole: it has the size that was announced.
    case imageEnds
    /// The image is not taken. What follows of it is ``leftOut(_:)``.
    case imageFailed(PeerImageError)
    /// `IMG_ERROR <reason>`: the peer sends no image, or no more of it.
    case imageRefused(reason: String)
    /// Base64 of an image that is not taken, as it came.
    case leftOut([UInt8])
}

/// Text of a peer, or bytes that are not text.
public struct PeerText: Sendable, Hashable {
    /// How many characters of a message are shown to people.
    public static let shownCharacters = 500

    /// The bytes, without a line end.
    public var bytes: [UInt8]
    /// Whether this goes on a message whose beginning came before.
    public var isContinuation: Bool
    /// Whether the message goes on, or lacks its end.
    public var isCut: Bool

    /// Text that came in one piece, unless said otherwise.
    public init(_ bytes: [UInt8], isContinuation: Bool = false, isCut: Bool = false) {
        self.bytes = bytes
        self.isContinuation = isContinuation
        self.isCut = isCut
    }

    /// The text; nil where the bytes are not UTF-8, and are shown as hexadecimals.
    public var string: String? { String(validating: bytes, as: UTF8.self) }
}
