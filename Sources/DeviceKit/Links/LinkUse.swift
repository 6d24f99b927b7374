/// The purpose of a link, which decides how programs that want the device at the same time are treated.
public enum LinkUse: Sendable, Hashable {
    /// One command and its answer: other programs of this toolkit wait for its end.
    case oneCommand
    /// A longer task that ends on its own: other programs are refused.
    case transfer
    /// A task that lasts as long as the user likes. Other programs are refused, but can request OFF: see ``HeldLink``.
    case watching
}
