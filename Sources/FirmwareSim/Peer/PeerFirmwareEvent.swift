/// An event at a peer, as its users see it.
public enum PeerFirmwareEvent: Sendable, Hashable {
    /// The first listener has come.
    case listenerCame
    /// The last listener has left.
    case listenerLeft
    /// The host has sent this greeting: `Hello`, or `HELLO from <host> @ <time>`.
    case greeted([UInt8])
    /// The host has sent `ON` (true) or `OFF` (false).
    case toggled(Bool)
    /// The host has asked for the image.
    case askedForImage
    /// A message of the peer's user waits for a listener. The event is reported once before the next ``listenerCame``.
    case waits
    /// A message of the peer's user was refused: it begins with `IMG_`, and a host would take it for part of an image.
    case notSaid([UInt8])
    /// A message of the peer's user was too long for one notification, and was sent in this many notifications.
    case divided(into: Int)
    /// The host has sent a message, which need not be UTF-8.
    case told([UInt8])
}
