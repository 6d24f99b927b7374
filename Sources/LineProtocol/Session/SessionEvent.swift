/// An event of a session that is not the reply to a command.
public enum SessionEvent<Message: Sendable>: Sendable {
    /// The device, or a server that shares it, sent this message, which answers no command of this session.
    case heard(Message)
    /// The device had sent this message, or its beginning, before the session began: the message is stale.
    case heardBefore(Message)
    /// The link broke. This is the last event.
    case lost(LinkError)
}
