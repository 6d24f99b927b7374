/// What happens in a session unasked.
public enum SessionEvent<Message: Sendable>: Sendable {
    /// The device said this, and it answers no command.
    case heard(Message)
    /// The device had said this before the session began: it is no news, and tells nothing of the present.
    case heardBefore(Message)
    /// The link broke. Nothing else comes behind it.
    case lost(LinkError)
}
