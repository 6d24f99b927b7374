/// A signal that has arrived.
public struct DBusSignal: Sendable, Hashable {
    /// The unique name of who sent it, or `org.freedesktop.DBus`.
    public var sender: String
    public var path: ObjectPath
    public var interface: String
    public var member: String
    public var arguments: [DBusValue]

    /// Decodes all of a message; nil where it is no signal.
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
