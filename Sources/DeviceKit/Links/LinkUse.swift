/// The purpose of a link. It decides what happens to other programs that open the device meanwhile.
public enum LinkUse: Sendable, Hashable {
    /// One command and its answer: other programs of this toolkit wait for the end of the command.
    case oneCommand
    /// A longer task that ends on its own: other programs are refused.
    case transfer
    /// A task that lasts as long as the user likes. Other programs are refused, but can request OFF: see ``HeldLink``.
    case watching
}
