/// What a program has a link for, which decides what becomes of others that want the device meanwhile.
public enum LinkUse: Sendable, Hashable {
    /// One command and its answer: another program of this toolkit waits for its end.
    case oneCommand
    /// Something longer that ends by itself: others are refused.
    case transfer
    /// As long as a person likes: others are refused, but for OFF, which is sent for them; see ``HeldLink``.
    case watching
}
