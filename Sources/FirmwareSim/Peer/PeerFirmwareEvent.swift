/// What comes about at a peer, as people there see it.
public enum PeerFirmwareEvent: Sendable, Hashable {
    /// Somebody hears what the peer says, where nobody did.
    case listenerCame
    /// Nobody hears it any more.
    case listenerLeft
    /// `Hello`, or `HELLO from <host> @ <time>`, as it came.
    case greeted([UInt8])
    /// `ON` or `OFF`.
    case toggled(Bool)
    /// The image was asked for.
    case askedForImage
    /// What people have it say waits until somebody hears it. It is told once, and again behind the next ``listenerCame``.
    case waits
    /// What people had it say was not said: it begins with `IMG_`, and a central would take it for part of an image.
    case notSaid([UInt8])
    /// What it was to say was too long for one notification, and was said in so many.
    case divided(into: Int)
    /// A message, which need not be UTF-8.
    case told([UInt8])
}
