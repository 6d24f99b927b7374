/// The purpose of a link.
public enum LinkUse: Sendable, Hashable {
    /// One command and its answer. Over BLE, other programs of this toolkit wait for the end of the command.
    case oneCommand
    /// A longer task that ends on its own, such as a download. Other programs can't request OFF over its link.
    case transfer
    /// A task that lasts as long as the user likes. Other programs can request OFF over its link: see ``HeldLink``.
    case watching
}
