/// A received signal.
public struct DBusSignal: Sendable, Hashable {
    /// The unique name of the sender, or `org.freedesktop.DBus`; empty if the message has no sender.
    public var sender: String
    /// The object that sent the signal.
    public var path: ObjectPath
    /// The interface of the signal.
    public var interface: String
    /// The name of the signal.
    public var member: String
    /// The arguments, in order.
    public var arguments: [DBusValue]

    /// Decodes a message with all its arguments; nil if the message has no path, interface or member.
    public init?(_ message: DBusMessage) {
        guard let path = message.path, let interface = message.interface, let member = message.member else {
            return nil
        }
        self.sender = message.sender ?? ""
        self.path = path
        self.interface = interface
        self.member = member
        arguments = message.arguments
    }
}
